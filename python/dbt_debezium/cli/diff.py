"""`dbt-debezium diff`."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING

import click

from dbt_debezium.amounts import counted
from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.cli.engine import engine_option
from dbt_debezium.cli.problems import say_problems
from dbt_debezium.cli.tables import show_lines
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.plain_values import plain
from dbt_debezium.writers.terminal import json_text, one_line

if TYPE_CHECKING:
    from dbt_debezium.diff import RowDiff
    from dbt_debezium.readers.choice import Engine
    from dbt_debezium.readers.moment import Commit


@click.command(
    short_help="Show what commits changed.",
    epilog=examples(
        "dbt-debezium diff shop 17",
        "dbt-debezium diff shop 470..479 --table customers",
        "dbt-debezium diff shop --transaction 1946",
    ),
)
@click.argument("source")
@click.argument("commits", metavar="[COMMIT | FIRST..LAST]", required=False)
@click.option("--transaction", "transaction_id", metavar="ID", help="In place of COMMIT.")
@click.option("--table", metavar="NAME", help="Only rows of this public table.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
@click.option("--target", help="A target of profiles.yml.")
@engine_option
def diff(
    source: str,
    commits: str | None,
    transaction_id: str | None,
    table: str | None,
    as_json: bool,
    target: str | None,
    engine: "Engine",
) -> None:
    """Print every row that published commits of SOURCE changed, before and after each of them.

    A row that one transaction changed several times is one change.
    """
    from dbt_debezium.diff import Histories
    from dbt_debezium.project_settings import public_schema
    from dbt_debezium.readers.choice import reader_of
    from dbt_debezium.scaffold.project_models import ProjectModels
    from dbt_debezium.spark.targets import build_schema
    from dbt_debezium.status.notices import newer_lake

    if (commits is None) == (transaction_id is None):
        named = "neither is" if commits is None else "both are"
        raise DebeziumError(f"diff: {named} named; name one of COMMIT and --transaction ID")
    first, last = (None, None) if commits is None else read_range(commits)
    enter_lake(target)
    with working("looking at the lake") as state:
        build, public = build_schema(target), public_schema(project_dir())
        lake = reader_of(target, build, engine, state.update)
        say_problems(newer_lake(lake))
        state.update("comparing")
        models = [*ProjectModels.read(project_dir()).histories.values()]
        histories = Histories(lake, build, public, models)
        found = histories.commits(source, first, last, transaction_id)
        rows = histories.changes(found, table)
    if as_json:
        for row in rows:
            click.echo(json_text(row.as_json()))
        return
    show(found, rows, table)


def read_range(text: str) -> tuple[int, int]:
    """The first and the last commit of `470` or `470..479`.

    Raises:
        DebeziumError: it is neither.

    >>> read_range("470"), read_range("470..479")
    ((470, 470), (470, 479))
    """
    found = re.fullmatch(r"([0-9]{1,18})(?:\.\.([0-9]{1,18}))?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise DebeziumError(
            f"diff: {text} is no commit; name its number, as 470, or the first and the last of "
            "several, as 470..479"
        )
    return first, last


def show(commits: "Sequence[Commit]", rows: "Sequence[RowDiff]", table: str | None) -> None:
    """Print the rows of each commit below it."""
    by_commit = {number: [*some] for number, some in groupby(rows, lambda row: row.commit_number)}
    for commit in commits:
        changed = by_commit.get(commit.number, [])
        if not changed and len(commits) > 1:
            continue
        tables = counted(len({row.table for row in changed}), "table")
        of_tables = f"of {table}" if table else f"of {tables}"
        line = f"{commit}: {counted(len(changed), 'row')} {of_tables}"
        out.say(line)
        show_lines([line for row in changed for line in lines_of(row)])
    if len(commits) > 1:
        out.print(f"({counted(len(rows), 'row')} in {counted(len(commits), 'commit')})")


def lines_of(row: "RowDiff") -> Iterator[str]:
    """What happened to a row: each column that an update changed has a line of its own.

    >>> from dbt_debezium.diff import RowDiff
    >>> row = RowDiff("shop", 1, "t", "{}", "update", {"a": 1, "b": "x"}, {"a": 2, "b": "x"})
    >>> [*lines_of(row)]
    ['  update  t  {}', '    a: 1 -> 2']
    """
    head = f"  {row.change}  {one_line(row.table)}  {one_line(row.row_key)}"
    if row.change == "update":
        yield head
        for column, (before, after) in row.changed.items():
            yield f"    {one_line(column)}: {shown(before)} -> {shown(after)}"
    else:
        yield f"{head}  {shown(row.after or row.before)}"


def shown(value: object) -> str:
    """A value as JSON, on one line; a decimal without the quotes that it has in JSON."""
    if isinstance(value, Decimal):
        return str(value)
    return one_line(json_text(plain(value)))
