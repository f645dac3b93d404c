"""`dbt-debezium demo`."""

import os
from pathlib import Path

import click
from rich.text import Text

from dbt_debezium.build import environment
from dbt_debezium.cli.console import examples, log, out
from dbt_debezium.cli.report import write_page
from dbt_debezium.home import is_carried, jars_dir
from dbt_debezium.package_files import package_dir
from dbt_debezium.spark.jars import fetch_jars, wrong_jars


@click.command(
    short_help="Show what a recorded shop gives.",
    epilog=examples(
        "dbt-debezium demo",
    ),
)
def demo() -> None:
    """Land a real change log in two parts, and show what each gives.

    In a clone it runs there. An installed dbt-debezium writes its example into the folder
    dbt_debezium_demo, and fetches the jars that Spark needs if they are not there.
    """
    # Without Spark it must not begin.
    import pyspark  # noqa: F401

    from dbt_debezium.demo import FOLDER, LAKE, PAGE, QUERY, run_demo, write_example

    example, here = write_example(), Path.cwd()
    with environment(DBT_DEBEZIUM_JARS=str(jars_dir().absolute())):
        if is_carried(package_dir()) and wrong_jars():
            with log.status("fetching jars from Maven Central"):
                fetch_jars()
        os.chdir(example.project)
        run_demo(out, example)
    os.chdir(example.home)
    with environment(DBT_DEBEZIUM_LAKE=str(LAKE)):
        summary = write_page(LAKE / PAGE, "local")
    is_clone = example.home != here / FOLDER
    command = ".venv/bin/dbt-debezium" if is_clone else "dbt-debezium"
    there = "" if is_clone else f"cd {FOLDER}; "
    out.print("Now ask which transaction wrote a row:\n")
    out.print(Text(f'{there}DBT_DEBEZIUM_LAKE={LAKE} {command} query \\\n  "{QUERY}"'))
    out.print()
    out.say(f"Open this page: {(LAKE / PAGE).absolute()}")
    out.say(f"It says: {summary}")
