"""The option that says what reads the lake."""

import click

engine_option = click.option(
    "--engine",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "duckdb", "spark"]),
    help="What reads the lake. DuckDB needs no Java; `auto` takes Spark where DuckDB is not"
    " installed or cannot read this lake.",
)
