"""`dbt-debezium lease`."""

import click
from rich.text import Text

from dbt_debezium.cli.console import enter_lake, examples, out, working


@click.command(epilog=examples("dbt-debezium lease", "dbt-debezium lease --break"))
@click.option("--break", "is_broken", is_flag=True, help="Take the lease from its holder.")
@click.option("--target", help="A target of profiles.yml.")
def lease(is_broken: bool, target: str | None) -> None:
    """Say which run may write to the lake, and since when.

    A run that was killed on another machine keeps the lease until twenty minutes after it was last
    heard of. --break takes it at once. Use it only if you know that the run is dead: one that still
    works loses all that it has built, and says so.
    """
    from dbt_debezium.lease.breaking import break_lease
    from dbt_debezium.lease.holding import now
    from dbt_debezium.lease.row import read_row
    from dbt_debezium.lease.sentences import broken_sentence, state_sentence
    from dbt_debezium.session import spark_session

    enter_lake(target)
    with working("starting Spark"):
        spark = spark_session(target)
        if is_broken:
            sentence = broken_sentence(break_lease(spark), now())
        else:
            seen = read_row(spark)
            sentence = state_sentence(seen.row if seen else None, now())
    out.print(Text(sentence), soft_wrap=True)
