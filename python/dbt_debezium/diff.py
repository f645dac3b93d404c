"""What one published transaction changed, row by row."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dbt_debezium.build import compiled, raised_sentence
from dbt_debezium.errors import DebeziumError, is_of_spark
from dbt_debezium.session import nothing_published
from dbt_debezium.writers import jinja, terminal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMITS = """
select
    commit_number,
    transaction_id,
    date_format(committed_at, "yyyy-MM-dd HH:mm:ss 'UTC'") as committed_at
from {schema}.commit
where source = :source and (commit_number = :commit_number or transaction_id = :transaction_id)
order by commit_number desc
"""


@dataclass(frozen=True, slots=True)
class Commit:
    """A published commit."""

    source: str
    number: int
    transaction_id: str | None
    """None for a snapshot."""
    committed_at: str | None

    def __str__(self) -> str:
        what = f"transaction {self.transaction_id}" if self.transaction_id else "a snapshot"
        return f"commit {self.number} of {self.source}: {what}, committed at {self.committed_at}"


@dataclass(frozen=True, slots=True)
class RowDiff:
    """One row that a commit changed."""

    source: str
    commit_number: int
    table: str
    row_key: str
    change: str
    """insert, update or delete."""
    before: str | None
    """The row before the commit as JSON; None when there was none."""
    after: str | None

    def as_json(self) -> str:
        """All of it as one JSON object, with the images as they were written."""
        named = {
            "source": self.source,
            "commit_number": self.commit_number,
            "table": self.table,
            "row_key": self.row_key,
            "change": self.change,
        }
        images = f'"before": {self.before or "null"}, "after": {self.after or "null"}'
        return terminal.harmless_json(f"{terminal.json_text(named)[:-1]}, {images}}}")

    def sentence(self) -> str:
        """What changed: the columns that differ, or the whole row where there is no other.

        >>> RowDiff("s", 1, "t", "1", "update", '{"a":1,"b":2}', '{"a":1,"b":3.10}').sentence()
        'b: 2 -> 3.10'
        """
        if self.before is None or self.after is None:
            return self.before or self.after or ""
        before, after = columns_of(self.before), columns_of(self.after)
        changed = [name for name in after if before.get(name) != after[name]]
        return ", ".join(f"{name}: {before.get(name)} -> {after[name]}" for name in changed)


def columns_of(image: str) -> dict[str, str]:
    """The values of an image, each as its JSON text."""
    found = msgspec.json.decode(image, type=dict[str, msgspec.Raw])
    return {name: bytes(value).decode() for name, value in found.items()}


def find_commit(
    spark: "SparkSession",
    source: str,
    commit_number: int | None,
    transaction_id: str | None,
    schema: str = "public",
) -> Commit:
    """The published commit of a number, or the newest one of a transaction.

    Args:
        schema: the one that readers use.

    Raises:
        DebeziumError: it is not published.
    """
    from pyspark.errors import AnalysisException

    what = f"commit {commit_number}" if commit_number else f"transaction {transaction_id}"
    arguments: dict[str, Any] = {
        "source": source,
        "commit_number": commit_number,
        "transaction_id": transaction_id,
    }
    try:
        rows = spark.sql(COMMITS.format(schema=schema), arguments).collect()
        sources = [row["source"] for row in spark.table(f"{schema}.published_cut").collect()]
    except AnalysisException as error:
        raise nothing_published("diff") from error
    if source not in sources:
        raise DebeziumError(
            f"diff: {source} is no source of the published cut; its sources are "
            + (", ".join(sorted(sources)) or "none yet")
        )
    if not rows:
        raise DebeziumError(
            f"diff: {what} of {source} is not published; "
            "`dbt-debezium status` says what is, and what is held"
        )
    return Commit(source, *rows[0])


def transaction_diff(
    spark: "SparkSession",
    source: str,
    commit_number: int,
    project: Path,
    target: str | None = None,
) -> list[RowDiff]:
    """Every row of every table that a published commit changed, in order of table and row key.

    Raises:
        DebeziumError: dbt cannot read the project, or the versions before the commit are removed.
    """
    call = f"{{{{ transaction_diff({jinja.literal(source)}, {commit_number}) }}}}"
    options = ["--target", target] if target else []
    query = compiled(call, project, options)
    try:
        rows = spark.sql(query).collect()
    except Exception as error:
        if is_of_spark(error) and (sentence := raised_sentence(str(error))):
            raise DebeziumError(sentence) from error
        raise
    return [RowDiff(*row) for row in rows]
