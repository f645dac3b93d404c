"""`dbt-debezium demo`."""

import click

from dbt_debezium.cli.console import enter_project, examples, out


@click.command(
    epilog=examples(
        "dbt-debezium demo",
    )
)
def demo() -> None:
    """Land a real change log in two parts, and show what each gives."""
    from dbt_debezium.demo import run_demo

    enter_project()
    run_demo(out)
