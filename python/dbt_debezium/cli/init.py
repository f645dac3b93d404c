"""`dbt-debezium init`."""

from pathlib import Path

import click

from dbt_debezium.cli.console import examples, out


@click.command(
    short_help="Begin a dbt project.",
    epilog=examples(
        "dbt-debezium init my_lake",
        "dbt-debezium init .",
    ),
)
@click.argument("folder", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Begin a dbt project of your own in FOLDER, which gives it its name.

    It has settings, profiles, a seed for decisions and a README. The models that are the same for
    every source come with this package, and `scaffold` writes those of your tables. A name has
    letters, digits and underscores. A file that is there is never written over.
    """
    from dbt_debezium.new_project import KEPT, write_new_project

    written = write_new_project(folder)
    for file in written:
        out.say(f"new   {folder / file}")
    for file in sorted(KEPT - {*written}):
        out.say(f"kept  {folder / file}")
    if Path(".gitignore") not in written:
        out.print("keep lake, jars, target, logs and dbt_packages out of git")
    there = "" if folder.resolve() == Path.cwd() else f"cd {folder}, then "
    out.say(f"next: {there}`dbt-debezium jars`, `land`, `scaffold` and `run`")
