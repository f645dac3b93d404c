"""Writing the new state of each table to its branch, which readers of `main` do not see."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbt_debezium.maintenance.tables import BRANCH, lake_table
from dbt_debezium.patterns import matches
from dbt_debezium.public_tables.table import (
    BUILT,
    Call,
    Chosen,
    Shown,
    Written,
    plain_table,
    shown_by,
    written,
)
from dbt_debezium.writers import sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

NOT_SHOWN = ("_source", "_row_key", "_valid_from", "_valid_to", "_change")
"""Columns of a history that its public view leaves out, or has at the end."""


def write(spark: "SparkSession", call: Call) -> str:
    """Write what `main` of each table lacks of the new cut.

    Raises:
        DebeziumError: a table of that name is somebody else's.
    """
    written.clear()
    write_more(spark, call)
    return ""


def write_more(spark: "SparkSession", call: Call) -> None:
    """The same, for further tables of this run."""
    if any(one.history for one in call.tables):
        rows = spark.sql(
            "select reached.source, reached.commit_number, kept.history_from "
            f"from {call.reached} as reached left join ("
            f"select inline(source_cuts) from {call.cut} where channel = 'published'"
            ") as kept on reached.source = kept.source where reached.commit_number is not null"
        ).collect()
    else:
        rows = []
    reached = {row.source: int(row.commit_number) for row in rows}
    kept = {row.source: int(row.history_from) for row in rows if row.history_from is not None}
    if call.tables:
        spark.sql(f"create schema if not exists {sql.identifier(call.schema)}")
    for one in call.tables:
        if one.history is None:
            _write_rows(spark, call, one)
        else:
            commits = {
                source: number
                for source, number in reached.items()
                if any(matches(pattern, source) for pattern in one.sources)
            }
            _write_versions(spark, call, one, one.history, commits, kept)


def _write_rows(spark: "SparkSession", call: Call, one: Chosen) -> None:
    query = f"select * from {one.rows}"
    table = plain_table(spark, call, one.name)
    if table is None or _is_reshaped(spark, call, one, query):
        table = _create(spark, call, one, f"{query} where false")
    _replace(spark, call, one, table, query, Shown())


def _write_versions(
    spark: "SparkSession",
    call: Call,
    one: Chosen,
    history_name: str,
    commits: Mapping[str, int],
    kept: Mapping[str, int],
) -> None:
    """Write the rows of a captured table.

    Args:
        commits: the commit of each of its sources at the new cut.
        kept: the oldest commit of each source that histories can show, if versions were removed.
    """
    history = lake_table(spark, history_name)
    assert history is not None, history_name
    snapshot = history.iceberg.currentSnapshot()
    built = history.iceberg.properties().get(BUILT)
    now = Shown(dict(commits), built, None if snapshot is None else int(snapshot.snapshotId()))
    table = plain_table(spark, call, one.name)
    shown = None if table is None else shown_by(table)
    if shown and (shown.built, shown.snapshot) == (built, now.snapshot):
        return
    query = f"select {_columns(spark, history_name)} from {history_name}"
    is_continued = shown and shown.built == built
    if table is None or (not is_continued and _is_reshaped(spark, call, one, query)):
        # As its view does, a table with other columns shows the same commit as before.
        valid = " or ".join(
            f"(_source = {sql.literal(source)} and _valid_from <= {number}"
            f" and (_valid_to > {number} or _valid_to is null))"
            for source, number in (shown.commits if shown else {}).items()
        )
        table = _create(spark, call, one, f"{query} where {valid or 'false'}")
    # Without versions that were removed, rows that ended with them would stay.
    if (
        shown
        and is_continued
        and all(kept.get(source, 0) <= at for source, at in shown.commits.items())
    ):
        _merge(spark, call, one, table, shown, now)
        return
    _replace(spark, call, one, table, f"{query} where _valid_to is null", now)


def _columns(spark: "SparkSession", history_name: str) -> str:
    """Those of the public view, and what tells rows apart."""
    names = [name for name in spark.table(history_name).columns if name not in NOT_SHOWN]
    named = "".join(f"{sql.identifier(name)}, " for name in names)
    return f"{named}_change, _source, _row_key"


def _merge(
    spark: "SparkSession", call: Call, one: Chosen, table: Any, shown: Shown, now: Shown
) -> None:
    """Write the rows whose newest version began or ended after the commit that is shown."""
    newer = " or ".join(
        f"(_source = {sql.literal(source)} and (_valid_from > {before} or _valid_to > {before}))"
        for source, number in now.commits.items()
        if number > (before := shown.commits.get(source, 0))
    )
    if not newer:
        # Maintenance has rewritten the history.
        return
    main = _branch(table)
    spark.sql(
        f"""
        merge into {call.table_name(one.name)}.branch_{BRANCH} as shown
        using (
            select *, _valid_to is null as is_open
            from (
                select
                    *,
                    row_number() over (
                        partition by _source, _row_key order by _valid_from desc
                    ) as age
                from {one.history}
                where {newer}
            )
            where age = 1
        ) as new
        on shown._source = new._source and shown._row_key = new._row_key
        when matched and not new.is_open then delete
        when matched then update set *
        when not matched and new.is_open then insert *
        """
    )
    _remember(one, table, main, now)


def _replace(
    spark: "SparkSession", call: Call, one: Chosen, table: Any, query: str, now: Shown
) -> None:
    """Write all rows in the place of those that are shown."""
    before = _branch(table)
    spark.sql(f"insert into {call.table_name(one.name)}.branch_{BRANCH} replace where true {query}")
    _remember(one, table, before, now)


def _remember(one: Chosen, table: Any, before: int, now: Shown) -> None:
    table.refresh()
    after = int(table.refs().get(BRANCH).snapshotId())
    written[one.name] = Written(one.name, before, after, now)


def _branch(table: Any) -> int:
    """Have the branch begin at `main`, whatever a killed run has left there; where that is."""
    table.refresh()
    main = table.currentSnapshot().snapshotId()
    manage = table.manageSnapshots()
    is_left = table.refs().containsKey(BRANCH)
    (manage.replaceBranch if is_left else manage.createBranch)(BRANCH, main).commit()
    return int(main)


def _create(spark: "SparkSession", call: Call, one: Chosen, query: str) -> Any:
    """Make a table, or give it other columns, with the rows that it is to show until it moves."""
    spark.sql(
        f"create or replace table {call.table_name(one.name)} using iceberg tblproperties ("
        "'format-version' = '2', 'write.merge.mode' = 'merge-on-read', "
        f"'write.merge.distribution-mode' = 'none', {call.properties}) as {query}"
    )
    table = plain_table(spark, call, one.name)
    assert table is not None, one.name
    return table


def _is_reshaped(spark: "SparkSession", call: Call, one: Chosen, query: str) -> bool:
    """Whether a table has other columns than a query, by name and type and in order."""
    shapes = [
        _shape(spark.table(call.table_name(one.name)).schema),
        _shape(spark.sql(query).schema),
    ]
    return shapes[0] != shapes[1]


def _shape(schema: "StructType") -> list[tuple[str, str]]:
    return [(one.name, one.dataType.simpleString()) for one in schema.fields]
