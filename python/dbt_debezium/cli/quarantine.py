"""`dbt-debezium quarantine`."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from dbt_debezium.amounts import counted
from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.cli.engine import engine_option
from dbt_debezium.cli.problems import say_problems
from dbt_debezium.cli.tables import show_rows
from dbt_debezium.home import lake_dir
from dbt_debezium.status.quarantined import told
from dbt_debezium.writers.terminal import json_text

if TYPE_CHECKING:
    from dbt_debezium.quarantine.messages import Wanted
    from dbt_debezium.readers import Reader
    from dbt_debezium.readers.choice import Engine

NOTHING = "nothing of that is quarantined"


@click.command(
    short_help="List messages that cannot be read.",
    epilog=examples(
        "dbt-debezium quarantine",
        "dbt-debezium quarantine --topic 'shop.public.*' --reason bad_json --values",
        "dbt-debezium quarantine --reason unknown_schema --retry",
    ),
)
@click.option("--source", default="*", metavar="PATTERN", help="Only of such sources.")
@click.option("--topic", default="*", metavar="PATTERN", help="Only of such topics.")
@click.option("--reason", default="*", metavar="PATTERN", help="Only for such reasons.")
@click.option("--values", is_flag=True, help="Show keys and values too, which may be personal.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Show at most."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per message, of all.")
@click.option("--retry", is_flag=True, help="Land them again, for the next run to read.")
@click.option("--target", help="A target of profiles.yml.")
@engine_option
def quarantine(
    source: str,
    topic: str,
    reason: str,
    values: bool,
    limit: int,
    as_json: bool,
    retry: bool,
    target: str | None,
    engine: "Engine",
) -> None:
    """List messages that cannot be read, or land them again.

    PATTERN is a name, in which * stands for any text. --retry helps once a setting, a schema in the
    registry or a newer version of dbt-debezium makes them readable. A message that a dump cut off
    must be landed from Kafka, or from a whole dump.
    """
    from dbt_debezium.quarantine.messages import Wanted, quarantined
    from dbt_debezium.readers.choice import reader_of
    from dbt_debezium.spark.targets import build_schema
    from dbt_debezium.status.acceptances import accepted_sentences
    from dbt_debezium.status.notices import newer_lake

    if retry and (values or as_json):
        raise click.UsageError("--retry shows nothing; leave --values and --json out.")
    if retry and engine == "duckdb":
        raise click.UsageError("--retry writes to the lake, which only Spark does.")
    enter_lake(target)
    wanted = Wanted(source, topic, reason)
    schema = build_schema(target)
    if retry:
        out.print(_landed_again(*_retry(target, schema, wanted)))
        return
    with working("looking at the lake") as state:
        lake = reader_of(target, schema, engine, state.update)
        say_problems(newer_lake(lake))
        report = _published(lake, schema)
        rows = quarantined(lake, schema, wanted, as_landed=values)
    if as_json:
        for row in rows:
            click.echo(json_text(_message(row)))
    else:
        _show(rows, limit)
        for entry in report:
            for sentence in accepted_sentences(entry, "message"):
                out.say(sentence)


def _published(lake: "Reader", schema: str) -> list[dict[str, Any]]:
    """The report of what is published.

    Raises:
        DebeziumError: nothing is.
    """
    from dbt_debezium.spark.session import nothing_published
    from dbt_debezium.status.report import cut_report

    report = cut_report(lake, schema)
    if not report:
        raise nothing_published("quarantine")
    return report


def _retry(target: str | None, schema: str, wanted: "Wanted") -> tuple[int, int | None]:
    from dbt_debezium.lease import Lease
    from dbt_debezium.quarantine.again import land_again
    from dbt_debezium.readers.spark_reader import SparkReader
    from dbt_debezium.spark.session import spark_session

    # Spark takes seconds to start, and another run may hold the lake.
    with Lease(lake_dir(), "dbt-debezium quarantine --retry"), working("starting Spark") as state:
        spark = spark_session(target)
        _published(SparkReader(spark), schema)
        state.update("landing again")
        return land_again(spark, schema, wanted)


def _landed_again(count: int, landing_id: int | None) -> str:
    if landing_id is None:
        return NOTHING
    return (
        f"landed {counted(count, 'message')} again (landing {landing_id}); "
        "`dbt-debezium run` reads them"
    )


def _show(rows: Sequence[dict[str, Any]], limit: int) -> None:
    if not rows:
        out.print(NOTHING)
        return
    names = ("topic", "partition", "offset", "transaction_id", "reason", "detail")
    shown = [
        [row[name] if row[name] is not None else "-" for name in names] for row in rows[:limit]
    ]
    show_rows(("topic", "partition", "offset", "transaction", "reason", "detail"), shown)
    for row in rows[:limit]:
        message = _message(row)
        if "key" in message:
            place = f"{row['topic']}, partition {row['partition']}, offset {row['offset']}"
            for line in (f"{place}:", f"  key   {message['key']}", f"  value {message['value']}"):
                out.say(line)
    if len(rows) > limit:
        more = len(rows) - limit
        out.print(f"and {counted(more, 'message')} more; --limit {len(rows)} shows all")
    for name in sorted({row["reason"] for row in rows}):
        out.say(told(name))


def _message(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON can hold it; bytes that are no UTF-8 as hexadecimal digits."""
    found = {
        "timestamp" if name == "sent_at_micros" else name: value
        for name, value in row.items()
        if name != "is_unreadable"
    }
    if "timestamp" in found:
        found["timestamp"] = _time_text(row["sent_at_micros"])
        found["headers"] = [
            {"key": one["key"], "value": _text(one["value"])} for one in row["headers"] or []
        ]
        found["key"], found["value"] = _text(row["key"]), _text(row["value"])
    return found


def _time_text(micros: int | None) -> str | None:
    """A time in UTC with its microseconds.

    >>> _time_text(1_000_000)
    '1970-01-01T00:00:01.000000Z'
    """
    if micros is None:
        return None
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


def _text(content: bytes | bytearray | None) -> str | None:
    """The text of bytes.

    >>> _text(bytearray(b"a")), _text(bytearray(b"\\x00\\xff")), _text(None)
    ('a', '0x00ff', None)
    """
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return f"0x{content.hex()}"
