"""One query of a person, in Spark's own SQL, on a server of Spark Connect.

A client cannot ask the server's analyzer what a statement is. So the statement goes to the server
inside a query, where its parser takes nothing but queries, and its words are checked here.
"""

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar, Final

from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.spark_plans import FUNCTIONS
from dbt_debezium.readers.spark_query import (
    CLOSED,
    HIDDEN_NAME,
    SCHEMA_FILE,
    SCRIPT,
    does_more,
    not_of_spark,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHOWING: Final = re.compile(r"\s*(show|desc|describe)\b", re.IGNORECASE)
EXPLAIN: Final = re.compile(
    r"\s*explain\b(\s+(logical|formatted|extended|codegen|cost)\b)?", re.IGNORECASE
)
LINE_END: Final = "query: a line ends in a backslash; end it in another way"
"""For Spark, a comment goes on behind such a line."""


def answer(spark: "SparkSession", sql: str) -> "DataFrame":
    """The rows of one query.

    Raises:
        DebeziumError: it may do more than read tables.
        PySparkException: it is not a query in Spark's SQL, or it names what is not there.
    """
    functions = {row[0] for row in spark.sql("show system functions").collect()}
    keywords = {row[0] for row in spark.sql("select lower(keyword) from sql_keywords()").collect()}
    check_words(sql, functions | keywords)
    # The session is this process's own, so it may keep them.
    for name, value in CLOSED.items():
        spark.conf.set(name, value)
    return spark.sql(only_query(sql))


def only_query(sql: str) -> str:
    """SQL that Spark refuses to parse unless it is a query, or shows something.

    >>> only_query("drop table a;")
    'select * from (\\ndrop table a\\n)'
    >>> only_query("explain cost drop table a")
    'explain cost select * from (\\ndrop table a\\n)'
    >>> only_query("show tables in public")
    'show tables in public'
    """
    if SHOWING.match(sql):
        return sql
    explain = EXPLAIN.match(sql)
    begin = explain.group().strip() + " " if explain else ""
    rest = sql[explain.end() :] if explain else sql
    return f"{begin}select * from (\n{rest.strip().rstrip(';')}\n)"


def check_words(sql: str, known: Collection[str]) -> None:
    """Refuse what calls more than functions of Spark.

    Args:
        sql: a statement.
        known: Spark's functions, and the keywords that can stand before a bracket.

    Raises:
        DebeziumError: there is something.

    >>> check_words("select abs(a), 'f(x)' /* g(x) */ from t join u using (a)", {"abs", "using"})
    >>> check_words("with c(x) as (select 1) select * from values (1) as t(a)", {"as", "values"})
    """
    from sqlglot import TokenType
    from sqlglot.dialects.spark import Spark
    from sqlglot.errors import TokenError

    class Words(Spark.Tokenizer):
        """Spark's words. By default, what follows `explain` or `begin show` is a single one."""

        COMMANDS: ClassVar[set[TokenType]] = set()

    if re.search(r"\\\r?\n", sql):
        raise DebeziumError(LINE_END)
    try:
        tokens = Words(dialect="spark").tokenize(sql)
    except TokenError as error:
        raise DebeziumError("query: it has a text or a comment without an end; end it") from error
    if "rowvalidationxsdpath" in sql.lower():
        raise DebeziumError(SCHEMA_FILE)
    for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False):
        name = token.text.lower()
        if name == "using" and after.token_type is not TokenType.L_PAREN:
            # Of USING, only a join's names columns in brackets.
            raise DebeziumError(SCRIPT)
        if after.token_type is not TokenType.L_PAREN or not (name and re.match(r"\w", name)):
            continue
        if token.token_type is TokenType.NUMBER:
            continue
        follows = before.text.lower() if before else ""
        if follows in ("as", "with", "recursive"):
            continue
        if name == "identifier":
            raise DebeziumError(HIDDEN_NAME)
        if name in FUNCTIONS:
            raise does_more(token.text)
        if follows == "." or name not in known:
            raise not_of_spark(token.text)
