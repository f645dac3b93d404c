"""One query of a person, in Spark's own SQL, which is answered if it only reads tables.

Spark's parser and analyzer say what a statement is, and `spark_plans` what may be in it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.spark_nodes import PlanNodes, class_name
from dbt_debezium.readers.spark_plans import (
    ABOUT_A_QUERY,
    ANALYSIS,
    COMMANDS,
    EXPRESSIONS,
    FOREIGN,
    FUNCTION_CLASSES,
    FUNCTIONS,
    LOGICAL,
    PLANS,
    RELATIONS,
    XML,
)
from dbt_debezium.spark.java_methods import java
from dbt_debezium.writers.terminal import one_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERIES: Final = "SELECT, VALUES, SHOW, DESCRIBE and EXPLAIN"
CLOSED: Final = {"spark.sql.runSQLOnFiles": "false"}
"""With this setting Spark takes no file for a table."""
SCRIPT: Final = "query: TRANSFORM ... USING starts a command; leave it out"
SCHEMA_FILE: Final = "query: rowValidationXSDPath opens a file; leave it out"
HIDDEN_NAME: Final = "query: IDENTIFIER(...) hides a name; write the name itself"


def answer(spark: "SparkSession", sql: str) -> "DataFrame":
    """The rows of one query. A statement that may do more is refused before any of it runs.

    Raises:
        DebeziumError: it may do more than read tables.
        PySparkException: it is not Spark's SQL, or it names what is not there.
    """
    from pyspark.sql.classic.dataframe import DataFrame

    with set_for_now(spark, CLOSED):
        plan = checked_plan(spark, sql)
        dataset = java(spark).org.apache.spark.sql.classic.Dataset
        return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)


@contextmanager
def set_for_now(spark: "SparkSession", settings: dict[str, str]) -> Iterator[None]:
    """Settings of a session until the block ends."""
    before = {name: str(spark.conf.get(name)) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def checked_plan(spark: "SparkSession", sql: str) -> Any:
    """The plan of a statement that only reads.

    A query's plan is analyzed, so that what runs is what was checked, even if somebody replaces
    a view meanwhile.
    """
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    kind = class_name(plan)
    if kind in COMMANDS:
        return plan
    if kind in ABOUT_A_QUERY:
        checked_query(spark, getattr(plan, ABOUT_A_QUERY[kind])(), sql)
        return plan
    return checked_query(spark, plan, sql)


def checked_query(spark: "SparkSession", plan: Any, sql: str) -> Any:
    """The analyzed plan of a query that only reads."""
    state = spark._jsparkSession.sessionState()
    # The analyzer runs some statements and some functions itself.
    parsed = PlanNodes(spark, plan)
    check_plans(parsed, sql)
    check_called(spark, parsed)
    skip = java(spark).org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    analyzed = state.executePlan(plan, skip).analyzed()
    # A view contains what the statement does not show.
    nodes = PlanNodes(spark, analyzed)
    check_plans(nodes, sql)
    check_expressions(spark, nodes)
    return analyzed


def check_plans(nodes: PlanNodes, sql: str) -> None:
    """Refuse a plan that does not only read tables of catalogs."""
    for plan in nodes.plans:
        kind = class_name(plan)
        if kind == f"{LOGICAL}ScriptTransformation":
            raise DebeziumError(SCRIPT)
        if kind not in PLANS:
            raise no_query(sql)
        if not all(getattr(plan, field)().isDefined() for field in RELATIONS.get(kind, ())):
            raise no_query(sql)
        if kind == f"{ANALYSIS}UnresolvedRelation":
            name = plan.multipartIdentifier()
            if "/" in name.last():
                raise DebeziumError(
                    f"query: {name.mkString('.')} names a file; only tables of a catalog are read"
                )


def check_called(spark: "SparkSession", nodes: PlanNodes) -> None:
    """Refuse functions by the names that the statement calls them by."""
    find = java(spark).java.lang.Class.forName
    called = {
        one.nameParts().mkString(".")
        for one in nodes.expressions_of(find(f"{ANALYSIS}UnresolvedFunction"))
    }
    called |= {
        one.name().unquotedString()
        for one in nodes.expressions_of(find(f"{ANALYSIS}UnresolvedGenerator"))
    }
    called |= {
        plan.name().mkString(".")
        for plan in nodes.plans
        if class_name(plan) == f"{ANALYSIS}UnresolvedTableValuedFunction"
    }
    if nodes.expressions_of(find(f"{ANALYSIS}ExpressionWithUnresolvedIdentifier")):
        raise DebeziumError(HIDDEN_NAME)
    for name in sorted(called):
        if name.lower() in FUNCTIONS:
            raise does_more(name)
        if not is_builtin(spark, name):
            raise not_of_spark(name)


def is_builtin(spark: "SparkSession", name: str) -> bool:
    """Whether Spark itself has a function of rows or of tables."""
    catalyst = java(spark).org.apache.spark.sql.catalyst
    identifier = catalyst.FunctionIdentifier(name)
    return bool(
        catalyst.analysis.FunctionRegistry.builtin().functionExists(identifier)
        or catalyst.analysis.TableFunctionRegistry.builtin().functionExists(identifier)
    )


def check_expressions(spark: "SparkSession", nodes: PlanNodes) -> None:
    """Refuse functions by what they have turned out to be."""
    foreign = [java(spark).java.lang.Class.forName(name) for name in FOREIGN]
    for kind in nodes.expression_classes():
        name = kind.getName()
        if name in FUNCTION_CLASSES:
            raise does_more(FUNCTION_CLASSES[name])
        if not name.startswith(EXPRESSIONS) or any(one.isAssignableFrom(kind) for one in foreign):
            raise not_of_spark(nodes.expressions_of(kind)[0].prettyName())
        if name in XML:
            options = (str(one.options().keys()).lower() for one in nodes.expressions_of(kind))
            if any("rowvalidationxsdpath" in one for one in options):
                raise DebeziumError(SCHEMA_FILE)


def no_query(sql: str) -> DebeziumError:
    """What is said of a statement that may change something."""
    return DebeziumError(
        f"query: {one_line(sql)} is no query and may change something; {QUERIES} are queries"
    )


def does_more(function: str) -> DebeziumError:
    """What is said of a function of Spark that calls Java or opens files."""
    return DebeziumError(f"query: the function {function} does more than read; leave it out")


def not_of_spark(function: str) -> DebeziumError:
    """What is said of a function that users or a catalog have defined."""
    return DebeziumError(
        f"query: the function {function} is none of Spark's own; a query calls no others"
    )
