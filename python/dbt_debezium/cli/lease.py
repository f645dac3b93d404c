"""`dbt-debezium lease`."""

from typing import TYPE_CHECKING

import click

from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.cli.engine import engine_option
from dbt_debezium.cli.problems import say_problems

if TYPE_CHECKING:
    from dbt_debezium.readers.choice import Engine


@click.command(
    short_help="Say which run may write.",
    epilog=examples("dbt-debezium lease", "dbt-debezium lease --break"),
)
@click.option("--break", "is_broken", is_flag=True, help="Take the lease from its holder.")
@click.option("--target", help="A target of profiles.yml.")
@engine_option
def lease(is_broken: bool, target: str | None, engine: "Engine") -> None:
    """Say which run may write to the lake, and since when.

    A run that was killed on another machine keeps the lease until twenty minutes after it was last
    heard of. --break takes it at once. Use it only if you know that the run is dead: one that still
    works loses all that it has built, and says so.
    """
    from dbt_debezium.lease.breaking import break_lease
    from dbt_debezium.lease.holding import now
    from dbt_debezium.lease.row import read_lease
    from dbt_debezium.lease.sentences import broken_sentence, state_sentence
    from dbt_debezium.readers.choice import reader_of
    from dbt_debezium.spark.session import spark_session
    from dbt_debezium.spark.targets import build_schema
    from dbt_debezium.status.notices import newer_lake

    if is_broken and engine == "duckdb":
        raise click.UsageError("--break writes to the lake, which only Spark does.")
    enter_lake(target)
    if is_broken:
        with working("starting Spark"):
            sentence = broken_sentence(break_lease(spark_session(target)), now())
    else:
        with working("looking at the lake") as state:
            lake = reader_of(target, build_schema(target), engine, state.update)
            say_problems(newer_lake(lake))
            sentence = state_sentence(read_lease(lake), now())
    out.say(sentence)
