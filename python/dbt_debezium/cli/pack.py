"""`dbt-debezium pack`."""

from pathlib import Path

import click

from dbt_debezium.cli.console import enter_project, examples
from dbt_debezium.home import lake_dir, make_private


@click.command(
    short_help="Write the archive for executors.",
    epilog=examples("dbt-debezium pack", "dbt-debezium pack --to /srv/archives"),
)
@click.option(
    "--to", "folder", metavar="FOLDER", help="Where to write it. By default executors in the lake."
)
def pack(folder: str | None) -> None:
    """Write the archive that executors need, and print its path.

    It has this package and what it imports, and is named by its content. Where the master is not
    local, commands pack and send it by themselves. To keep it in a store instead, copy it there,
    and name it in DBT_DEBEZIUM_ARCHIVE, with #dbt_debezium_env after it.
    """
    from dbt_debezium.spark import pack as packing

    to = Path(folder).expanduser().absolute() if folder else None
    enter_project()
    if to is None:
        make_private(lake_dir())
    click.echo(packing.pack(to or lake_dir().absolute() / "executors"))
