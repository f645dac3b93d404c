"""`dbt-debezium report`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt_debezium.cli.console import enter_lake, examples, out
from dbt_debezium.cli.engine import engine_option
from dbt_debezium.cli.status import look
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir

if TYPE_CHECKING:
    from dbt_debezium.readers.choice import Engine


@click.command(
    short_help="Write a page about the lake.", epilog=examples("dbt-debezium report lake.html")
)
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
    file = file.expanduser().absolute()
    named = Path(health_file).expanduser().absolute() if health_file else None
    enter_lake(target)
    out.say(write_page(file, target, engine, named))


def write_page(
    file: Path, target: str | None = None, engine: "Engine" = "auto", named: Path | None = None
) -> str:
    """Write the page of the lake of this environment.

    Args:
        file: where the page is to be.
        target: of profiles.yml.
        engine: what reads the lake.
        named: the health file, if it is not that of the lake.

    Returns:
        The first sentence of the page: whether all is well.

    Raises:
        DebeziumError: the named file is not there, the page cannot be written, or the lake cannot
            be read.
    """
    from dbt_debezium.page import page_of
    from dbt_debezium.replaced_file import check_place, write
    from dbt_debezium.rounds.health import NAME, read_health
    from dbt_debezium.rounds.history import NAME as HISTORY
    from dbt_debezium.rounds.history import read_rounds

    health = read_health(named or lake_dir() / NAME)
    if named and health is None:
        raise DebeziumError(
            f"report: {named} is not there; name the file that `dbt-debezium run --every` writes"
        )
    check_place(file)
    found = look(target, engine)
    rounds = read_rounds(lake_dir() / HISTORY)
    summary, text = page_of(found, health, str(lake_dir()), datetime.now(UTC), rounds)
    write(file, text)
    return summary.sentence
