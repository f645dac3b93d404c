"""`dbt-debezium jars`."""

import click

from dbt_debezium.cli.console import examples, out, working


@click.command(
    short_help="Fetch the jars that Spark needs.",
    epilog=examples(
        "DBT_DEBEZIUM_JARS=/srv/jars dbt-debezium jars",
    ),
)
def jars() -> None:
    """Fetch the jars that Spark needs, once, into the folder `jars`."""
    from dbt_debezium.spark.jars import fetch_jars
    from dbt_debezium.spark.java import check_java

    check_java()
    with working("fetching jars"):
        fetched = fetch_jars()
    out.print(f"jars: {len(fetched)} fetched" if fetched else "jars: all there")
