"""`dbt-debezium run --every`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt_debezium.cli.console import log, out, working
from dbt_debezium.cli.one_session import OneSession
from dbt_debezium.cli.problems import say_problems, sentence_of
from dbt_debezium.cli.watched import watch_of
from dbt_debezium.home import lake_dir

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt_debezium.rounds.loop import Told
    from dbt_debezium.rounds.round import Outcome, Round
    from dbt_debezium.watching.watch import Output

FAILED_ROUNDS = "DBT_DEBEZIUM_FAILED_ROUNDS"
"""A process that starts itself again passes the number of failed rounds on."""
SHORTEST_REFRESH = 30
"""Seconds after which a browser loads the page again, if rounds are not further apart."""
LONG_LIVED = "-XX:ReservedCodeCacheSize=400m -XX:+UseParallelGC -XX:MetaspaceSize=256m"
"""Java's options for many rounds: optimized code takes a fifth less CPU from the eighth on."""


def repeat(
    rounds: "Round",
    session: OneSession,
    seconds: int,
    as_json: bool,
    health_file: Path | None,
    outputs: "list[Output]",
    started_in: Path,
) -> None:
    """Repeat rounds until a signal ends them."""
    from dbt_debezium.rounds.health import NAME, Health
    from dbt_debezium.rounds.history import NAME as HISTORY
    from dbt_debezium.rounds.history import RoundsFile
    from dbt_debezium.rounds.java_process import JavaEndedError, has_ended, start_again
    from dbt_debezium.rounds.loop import run_rounds
    from dbt_debezium.rounds.stopping import Stopping
    from dbt_debezium.rounds.told import ForPeople, for_machines

    os.environ.setdefault("DBT_DEBEZIUM_JAVA_OPTIONS", LONG_LIVED)
    stop = Stopping(lambda: log.print("ending after this round; a second signal ends it now"))
    stop.listen()
    health = Health(health_file or lake_dir() / NAME)
    history = RoundsFile(lake_dir() / HISTORY)
    watch = None
    if outputs:
        refresh = max(SHORTEST_REFRESH, seconds)
        watch = watch_of(outputs, session, health.read, history.rounds, refresh)
    people = ForPeople(out.say)
    failures = int(os.environ.pop(FAILED_ROUNDS, "0"))

    def start_and_listen() -> "SparkSession":
        is_first = not session.has_started
        spark = session.start()
        if is_first:
            stop.listen()
        return spark

    def one_round() -> "Outcome":
        history.stages.step("looking for news")
        if not log.is_terminal:
            rounds.tell = history.stages.step
            return rounds.run()
        with working("looking for news") as status:

            def begin(step: str) -> None:
                history.stages.step(step)
                status.update(step)

            rounds.tell = begin
            return rounds.run()

    def tell(told: "Told") -> None:
        say_problems(filter(None, [health.round(told), history.round(told, health.said)]))
        if watch:
            # A round without news has found the lake as the last one left it.
            is_quiet = told.outcome is not None and told.outcome.kind == "no_news"
            say_problems(watch.write(may_have_changed=not is_quiet))
        if as_json:
            click.echo(for_machines(told))
        else:
            people.round(told)
        sys.stdout.flush()
        if told.error and has_ended():
            raise JavaEndedError(told.failures, told.pause)

    rounds.start_spark = start_and_listen
    try:
        run_rounds(one_round, seconds, stop, tell, sentence_of, failures)
    except JavaEndedError as ended:
        stop.wait(ended.pause)
        if not stop.is_asked_for:
            log.print("Spark has ended; starting again")
            start_again(started_in, {FAILED_ROUNDS: str(ended.failures)})
    finally:
        health.ended()
        say_problems(filter(None, [history.write()]))
        if watch:
            say_problems(watch.show())
