"""`dbt-debezium report`."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from dbt_debezium.cli.console import enter_lake, examples, out
from dbt_debezium.cli.status import engine_option, look
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir, project_dir

if TYPE_CHECKING:
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
    from dbt_debezium.page.rounds import read_health
    from dbt_debezium.rounds.health import NAME
    from dbt_debezium.session import project_settings

    file = file.expanduser().absolute()
    named = Path(health_file).expanduser().absolute() if health_file else None
    enter_lake(target)
    health = read_health(named or lake_dir() / NAME)
    if named and health is None:
        raise DebeziumError(
            f"report: {named} is not there; name the file that `dbt-debezium run --every` writes"
        )
    silent = project_settings(project_dir()).get("sources_without_truncate") or []
    found = look(target, engine)
    summary, text = page_of(found, health, str(lake_dir()), datetime.now(UTC), silent)
    write(file, text)
    out.print(Text(summary.sentence), soft_wrap=True)


def write(file: Path, text: str) -> None:
    """Write a file as a whole: who reads it sees the page before, or this one.

    Raises:
        DebeziumError: it cannot be written, or is a folder or a device.
    """
    # A link stays one.
    place = file.resolve()
    if place.exists() and not place.is_file():
        raise DebeziumError(f"report: {file} is no file; name one for the page, as lake.html")
    unfinished = place.with_name(f"_{place.name}.{os.getpid()}")
    try:
        try:
            # A folder's name may be no UTF-8.
            unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
            unfinished.replace(place)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise DebeziumError(
            f"report: {file} cannot be written ({error.strerror}); name a file in a folder that "
            "is there and can be written"
        ) from error
