"""`dbt-debezium demo`."""

import click

from dbt_debezium.cli.console import enter_project, examples, out
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir


@click.command(
    epilog=examples(
        "dbt-debezium demo",
    )
)
def demo() -> None:
    """Land a real change log in two parts, and show what each gives."""
    from dbt_debezium.demo import CAPTURE, run_demo

    enter_project(is_needed=False)
    if not (project_dir() / CAPTURE).is_file():
        raise DebeziumError(
            "demo: its change log and its models are in the repository of dbt-debezium alone; "
            "clone that, and run `make demo`"
        )
    run_demo(out)
