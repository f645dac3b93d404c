"""`dbt-debezium report`."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from dbt_debezium.cli.console import enter_lake, examples, out
from dbt_debezium.cli.problems import sentence_of
from dbt_debezium.cli.status import engine_option, look, look_with
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir

if TYPE_CHECKING:
    from dbt_debezium.cli.one_session import OneSession
    from dbt_debezium.lake_status import LakeStatus
    from dbt_debezium.page.kept import KeptPage
    from dbt_debezium.page.rounds import RoundsHealth
    from dbt_debezium.readers.choice import Engine


@click.command(epilog=examples("dbt-debezium report lake.html"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--health-file",
    metavar="FILE",
    help="What `run --every` says of its rounds. By default health.json in the lake, if it is"
    " there.",
)
@click.option("--target", help="A target of profiles.yml.")
@engine_option
def report(file: Path, health_file: str | None, target: str | None, engine: "Engine") -> None:
    """Write a page of HTML that shows how the lake is.

    It says what `status` says, and how the rounds of `run --every` are. It needs no other file and
    no script. A page that is there is replaced as a whole.
    """
    from dbt_debezium.page import page_of
    from dbt_debezium.page.file import check_place, write
    from dbt_debezium.page.rounds import read_health
    from dbt_debezium.rounds.health import NAME

    file = file.expanduser().absolute()
    named = Path(health_file).expanduser().absolute() if health_file else None
    enter_lake(target)
    health = read_health(named or lake_dir() / NAME)
    if named and health is None:
        raise DebeziumError(
            f"report: {named} is not there; name the file that `dbt-debezium run --every` writes"
        )
    check_place(file)
    found = look(target, engine)
    summary, text = page_of(found, health, str(lake_dir()), datetime.now(UTC))
    write(file, text)
    out.print(Text(summary.sentence), soft_wrap=True)


def kept_page(
    file: Path,
    session: "OneSession",
    health: "Callable[[], RoundsHealth | None]",
) -> "KeptPage":
    """The page that `run` writes, for which it starts no Spark.

    Args:
        file: where the page is.
        session: of the run.
        health: how the rounds are.
    """
    from dbt_debezium.page.kept import KeptPage
    from dbt_debezium.readers.choice import reader_at_hand
    from dbt_debezium.session import build_schema, check_lake

    def look_again() -> "LakeStatus":
        check_lake(session.target)
        schema = build_schema(session.target)
        return look_with(reader_at_hand(session.alive(), session.target, schema), schema)

    sentence = partial(sentence_of, where="lake")
    return KeptPage(file, str(lake_dir()), look_again, health, sentence)
