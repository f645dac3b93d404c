"""`query` answers what only reads, and refuses all else that Spark's grammar has.

spark_statements.tsv has an example of each alternative, and what comes of it. A newer Spark with
another alternative, rule or function fails here until somebody has judged it.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from lake import Lake, open_lake
from pyspark.errors import PySparkException
from pyspark.sql.functions import udf, udtf
from spark_grammar import OF_WORDS, RULE, Grammar

from dbt_debezium.cli import main
from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.spark_plans import FUNCTIONS
from dbt_debezium.readers.spark_query import checked_plan
from dbt_debezium.spark.java_methods import java

pytestmark = pytest.mark.slow
QUERY = ("query", "--engine", "spark")
HERE = Path(__file__).parent
STATEMENTS = [
    tuple(line.split("\t"))
    for line in (HERE / "spark_statements.tsv").read_text(encoding="utf-8").splitlines()
]
JUDGED = (HERE / "spark_judged.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A lake of one table and two views, and functions of a user in its session."""
    with open_lake(tmp_path_factory.mktemp("query"), []) as opened:
        for statement in (
            "create namespace build",
            "create namespace public",
            "create table build.t (a int, b string)",
            "insert into build.t values (1, 'x'), (2, 'y')",
            "create view public.v as select a, b from build.t",
            "create view public.calls_java as "
            "select reflect('java.lang.System', 'getenv', 'HOME') as home from build.t",
        ):
            opened.spark.sql(statement)
        opened.spark.udf.register("made_by_a_user", udf(lambda value: value, "int"))
        opened.spark.udtf.register("table_in_python", udtf(TableInPython, returnType="a int"))
        yield opened


class TableInPython:
    """A table function of a user."""

    def eval(self) -> Iterator[tuple[int]]:
        yield (1,)


@pytest.fixture(scope="module")
def grammar(lake: Lake) -> Grammar:
    return Grammar(lake.spark)


def test_each_alternative_of_sparks_grammar_has_an_example(lake: Lake, grammar: Grammar) -> None:
    alternatives = dict(grammar.alternatives())
    assert {
        name for name, rule in alternatives.items() if rule not in OF_WORDS and rule != RULE
    } == {name for name, *_ in STATEMENTS}
    elsewhere = [
        (name, statement)
        for name, _, statement in STATEMENTS
        if name not in grammar.used_by(at(lake, statement), "iceberg." * ("." in name))
    ]
    assert not elsewhere


def test_each_rule_and_each_function_of_spark_has_been_judged(lake: Lake, grammar: Grammar) -> None:
    rules = {f"rule {name}" for name, rule in grammar.alternatives() if rule == RULE}
    functions = {f"function {name}" for name in builtin_functions(lake)}
    assert sorted(rules | functions) == JUDGED


def test_what_only_reads_is_answered_and_all_else_is_refused_and_changes_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    # The first one completes the settings of the session.
    assert CliRunner().invoke(main, [*QUERY, "select 1"]).exit_code == 0
    before = state(lake)
    wrong = []
    for name, expected, statement in STATEMENTS:
        result = CliRunner().invoke(main, [*QUERY, at(lake, statement)])
        came = {0: "answered", 2: "refused"}.get(result.exit_code)
        if came != expected or (came == "refused" and not is_one_sentence(result.output)):
            wrong.append((name, statement, result.output, result.exception))
        if state(lake) != before:
            wrong.append((name, statement, "changed something"))
            before = state(lake)
    assert not wrong, "\n".join(map(str, wrong))


def test_each_function_of_spark_that_only_reads_passes_with_the_example_of_its_documentation(
    lake: Lake,
) -> None:
    refused, answered = set(), set()
    for name in builtin_functions(lake):
        try:
            checked_plan(lake.spark, example(lake, name))
            answered.add(name)
        except DebeziumError:
            refused.add(name)
        except PySparkException:
            # Spark has switched the function off, or its documentation has no example.
            continue
    assert refused == FUNCTIONS
    assert len(answered) > 450


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("drop table build.t", "query: drop table build.t is no query and may change something; "),
        ("select reflect('a', 'b')", "query: the function reflect does more than read; leave it"),
        ("select * from public.calls_java", "query: the function reflect does more than read; "),
        ("select made_by_a_user(1)", "query: the function made_by_a_user is none of Spark's own"),
        ("select transform(1) using 'id' as (x)", "query: TRANSFORM ... USING starts a command"),
        ("select * from text.`/etc/hosts`", "query: text./etc/hosts names a file; only tables"),
    ],
)
def test_a_refusal_names_what_it_refuses(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, sql: str, sentence: str
) -> None:
    monkeypatch.chdir(lake.project)
    assert sentence in " ".join(CliRunner().invoke(main, [*QUERY, sql]).output.split())


def test_no_variable_of_the_environment_is_put_into_a_query(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    result = CliRunner().invoke(main, [*QUERY, "select '${env:HOME}' as v", "--json"])
    assert result.stdout == '{"v": "${env:HOME}"}\n'


def test_two_columns_of_one_name_are_both_shown(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    sql = "select s.a, t.a from build.t as s cross join build.t as t where s.a = 1 and t.a = 2"
    result = CliRunner().invoke(main, [*QUERY, sql, "--csv"])
    assert result.stdout == "a,a\n1,2\n", result.output


def at(lake: Lake, statement: str) -> str:
    return statement.format(folder=lake.folder)


def is_one_sentence(output: str) -> bool:
    return "query: " in output and "Traceback" not in output and len(output) < 1_000


def state(lake: Lake) -> object:
    """All files of the test's folder, and what a session keeps to itself."""
    files = {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in lake.folder.rglob("*")
        if path.is_file() and "logs" not in path.parts
    }
    spark = lake.spark
    session = spark._jsparkSession.sessionState()
    return (
        files,
        str(session.conf().getAllConfs()),
        spark.catalog.currentCatalog(),
        spark.catalog.currentDatabase(),
        str(session.catalogManager().tempVariableManager().isEmpty()),
        spark._jsparkSession.sharedState().cacheManager().isEmpty(),
        spark.sparkContext._jsc.sc().listJars().size(),
    )


def builtin_functions(lake: Lake) -> list[str]:
    analysis = java(lake.spark).org.apache.spark.sql.catalyst.analysis
    registries = (analysis.FunctionRegistry, analysis.TableFunctionRegistry)
    names = [one.builtin().listFunction().mkString("\n") for one in registries]
    return sorted({name.strip("`") for name in "\n".join(names).splitlines()})


def example(lake: Lake, name: str) -> str:
    identifier = java(lake.spark).org.apache.spark.sql.catalyst.FunctionIdentifier(name)
    catalog = lake.spark._jsparkSession.sessionState().catalog()
    examples = catalog.lookupFunctionInfo(identifier).getExamples()
    found = re.search(r"> (SELECT .*?);\s*$", examples, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    return found.group(1) if found else f"select {name}()"
