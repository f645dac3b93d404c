"""`dbt-debezium scaffold`."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.text import Text

from dbt_debezium.cli.console import enter_lake, examples, log, out, working
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.writers.terminal import one_line

if TYPE_CHECKING:
    from dbt_debezium.scaffold.project_models import FileChange, Plan


@click.command(
    short_help="Write models for landed tables.",
    epilog=examples(
        "dbt-debezium scaffold --check",
        "dbt-debezium scaffold 'public.*' --group 'shop_*=shop'",
    ),
)
@click.argument("patterns", nargs=-1)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="PATTERN=NAME",
    help="Sources that match share one set of models, for example 'shop_*=shop'.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail when models are missing.")
@click.option("--yes", is_flag=True, help="Change files without asking.")
@click.option("--force", is_flag=True, help="Write all files of these tables again.")
@click.option("--target", help="A target of profiles.yml.")
def scaffold(
    patterns: Sequence[str],
    groups: Sequence[str],
    check: bool,
    yes: bool,
    force: bool,
    target: str | None,
) -> None:
    """Write models for the tables that have landed, or for those that match PATTERNS.

    A pattern is like 'public.orders' or 'shop_1.public.*'. What a person has changed in a model
    stays; columns that it does not have are added. A table of signals is left out unless it is
    named without *.
    """
    from dbt_debezium.project_settings import read_settings
    from dbt_debezium.scaffold.captured import Group, chosen_tables
    from dbt_debezium.scaffold.identities import indistinct_sentence
    from dbt_debezium.scaffold.landed_tables import landed_tables
    from dbt_debezium.scaffold.project_models import plan_scaffold
    from dbt_debezium.scaffold.tables import full_name
    from dbt_debezium.spark.session import spark_session

    parsed_groups = [Group.parse(group) for group in groups]
    enter_lake(target)
    project = project_dir()
    settings = read_settings(project)
    with working("starting Spark") as state:
        spark = spark_session(target)
        state.update("looking at the messages")
        if not spark.catalog.tableExists("landing.message"):
            raise DebeziumError("scaffold: nothing has landed; run `dbt-debezium land` first")
        landed = landed_tables(spark, settings)
        tables = chosen_tables(landed, patterns)
    plan = plan_scaffold(project, tables, parsed_groups, force)
    for name in sorted({full_name(one.schema, one.table) for one in landed if one.has_signals}):
        if name not in {full_name(one.schema, one.table) for one in tables}:
            out.say(f"left out {name}: a table of signals; name it to have its models")
    for facts in tables:
        if sentence := indistinct_sentence(facts, facts.source, "run"):
            out.say(sentence)
    show_plan(plan)
    if check and plan.changes:
        log.print(f"scaffold: {len(plan.changes)} files are missing or lack columns")
        sys.exit(1)
    if plan.changes and not check:
        confirm_changes(plan, yes)
        plan.write(project)
        count = len(plan.changes)
        out.print(f"wrote {count} files; the next run builds these tables from all changes")
    if plan.refusals:
        sys.exit(2)


def show_plan(plan: "Plan") -> None:
    """New files by name, others by what changes in them, and what is refused."""
    if not plan.changes and not plan.refusals:
        out.print("every table has its models")
    for change in plan.changes:
        if change.old is None:
            out.say(f"new  {change.path}{_other_name(change)}")
        else:
            out.print(Text(change.diff()), soft_wrap=True)
    for refusal in plan.refusals:
        log.say(refusal)


def _other_name(change: "FileChange") -> str:
    """The source's name for a table, where that of its history file does not show it."""
    from dbt_debezium.scaffold.captured import identifier
    from dbt_debezium.scaffold.model_files import read_history

    model = None
    if change.path.suffix == ".sql":
        model = read_history(change.path, change.new)
    if model is None or identifier(table := model.captured["table"]) == table:
        return ""
    return f", for the table {one_line(table)}"


def confirm_changes(plan: "Plan", yes: bool) -> None:
    """Ask before a file that is there changes."""
    changed = sum(change.old is not None for change in plan.changes)
    if not changed or yes:
        return
    if not sys.stdin.isatty():
        raise DebeziumError(f"scaffold: {changed} files would change; say --yes to change them")
    click.confirm(f"change {changed} files?", abort=True, err=True)
