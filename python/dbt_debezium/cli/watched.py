"""The options of `run` that keep something up to date, and what they keep."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbt_debezium.cli.problems import sentence_of
from dbt_debezium.cli.status import look_with
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir

if TYPE_CHECKING:
    from dbt_debezium.cli.one_session import OneSession
    from dbt_debezium.rounds.health import RoundsHealth
    from dbt_debezium.rounds.history import Rounds
    from dbt_debezium.status.lake_status import LakeStatus
    from dbt_debezium.watching.watch import Output, Watch


@dataclass(frozen=True, slots=True)
class Watched:
    """What is to be kept up to date, as the options name it."""

    page_file: Path | None = None
    metrics_file: Path | None = None
    metrics_port: str | None = None
    on_change: str | None = None

    def begin(self) -> "list[Output]":
        """The outputs, after a look whether each can be written.

        Raises:
            DebeziumError: a file or a port cannot be used, or the command is none.
        """
        from dbt_debezium.replaced_file import check_place
        from dbt_debezium.watching.watch import PageFile

        outputs: list[Output] = []
        if self.page_file:
            check_place(self.page_file)
            outputs.append(PageFile(self.page_file))
        if self.metrics_file or self.metrics_port:
            from dbt_debezium.watching.metrics import MetricsFile, MetricsServer

            if self.metrics_file:
                check_place(self.metrics_file, "run: --metrics-file")
                outputs.append(MetricsFile(self.metrics_file))
            if self.metrics_port:
                outputs.append(MetricsServer(self.metrics_port))
        if self.on_change:
            from dbt_debezium.watching.on_change import NAME, OnChange

            outputs.append(OnChange(self.on_change, lake_dir() / NAME))
        return outputs

    def check_rounds(self, is_repeated: bool) -> None:
        """Refuse what needs a process that stays.

        Raises:
            DebeziumError: there is none.
        """
        for name, value in (("--metrics-port", self.metrics_port), ("--on-change", self.on_change)):
            if value and not is_repeated:
                raise DebeziumError(f"run: {name} goes with --every; say how often, as --every 30s")


def watch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that `Watched` has, each under its name."""
    for option in reversed(
        (
            click.option(
                "--report",
                "page_file",
                type=click.Path(path_type=Path),
                metavar="FILE",
                help="Write the page of `dbt-debezium report` after the run, or after each round.",
            ),
            click.option(
                "--metrics-file",
                type=click.Path(path_type=Path),
                metavar="FILE",
                help="Write metrics for Prometheus after the run, or after each round.",
            ),
            click.option(
                "--metrics-port",
                metavar="[HOST:]PORT",
                help="With --every: answer Prometheus at this port, by default on 127.0.0.1.",
            ),
            click.option(
                "--on-change",
                metavar="COMMAND",
                help="With --every: call this program, with JSON on its standard input, when"
                " something begins, worsens or ends.",
            ),
        )
    ):
        command = option(command)
    return command


def watch_of(
    outputs: "list[Output]",
    session: "OneSession",
    health: "Callable[[], RoundsHealth | None]",
    rounds: "Rounds | None" = None,
    refresh_seconds: int | None = None,
) -> "Watch":
    """Keeps outputs up to date, and starts no Spark for it.

    Args:
        outputs: what is kept.
        session: of the run.
        health: how the rounds are.
        rounds: the history of rounds.
        refresh_seconds: after how long a browser is to load the page again.
    """
    from dbt_debezium.readers.choice import reader_at_hand
    from dbt_debezium.spark.session import check_lake
    from dbt_debezium.spark.targets import build_schema
    from dbt_debezium.watching.watch import Watch

    def look_again() -> "LakeStatus":
        check_lake(session.target)
        schema = build_schema(session.target)
        return look_with(reader_at_hand(session.alive(), session.target, schema), schema)

    sentence = partial(sentence_of, where="lake")
    return Watch(str(lake_dir()), look_again, health, outputs, sentence, rounds, refresh_seconds)
