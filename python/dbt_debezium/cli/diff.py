"""`dbt-debezium diff`."""

import click
from rich.table import Table
from rich.text import Text

from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.writers.terminal import one_line


@click.command(
    epilog=examples(
        "dbt-debezium diff shop 17",
        "dbt-debezium diff shop --transaction 1946",
    )
)
@click.argument("source")
@click.argument("commit_number", metavar="[COMMIT]", type=click.IntRange(min=1), required=False)
@click.option("--transaction", "transaction_id", metavar="ID", help="In place of COMMIT.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
@click.option("--target", help="A target of profiles.yml.")
def diff(
    source: str,
    commit_number: int | None,
    transaction_id: str | None,
    as_json: bool,
    target: str | None,
) -> None:
    """Print every row that one published COMMIT of SOURCE changed, before and after it."""
    from dbt_debezium.diff import find_commit, transaction_diff
    from dbt_debezium.session import public_schema, spark_session

    if (commit_number is None) == (transaction_id is None):
        named = "neither is" if commit_number is None else "both are"
        raise DebeziumError(f"diff: {named} named; name one of COMMIT and --transaction ID")
    enter_lake(target)
    with working("starting Spark") as state:
        spark = spark_session(target)
        schema = public_schema(project_dir())
        commit = find_commit(spark, source, commit_number, transaction_id, schema)
        state.update("comparing")
        rows = transaction_diff(spark, source, commit.number, project_dir(), target)
    if as_json:
        for row in rows:
            click.echo(row.as_json())
        return
    tables = len({row.table for row in rows})
    out.print(Text(f"{commit}: {len(rows):,} rows of {tables} tables"), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for name in ("change", "table", "row", "before -> after"):
        table.add_column(name)
    for row in rows:
        cells = (row.change, row.table, row.row_key, row.sentence())
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    out.print(table)
