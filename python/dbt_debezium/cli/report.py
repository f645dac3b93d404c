"""A report on the published cut, as `status` and `preview` print it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from dbt_debezium.cli.console import out
from dbt_debezium.flags import flag_sentences
from dbt_debezium.holds import held_sentence
from dbt_debezium.report import OUTCOMES

if TYPE_CHECKING:
    from dbt_debezium.shapes import ShapeReport

SHOWN_SOURCES = 20
SHOWN_SENTENCES = 20
SHOWN_MESSAGES = 5
COUNTED = ("landed", *OUTCOMES)


def show_report(report: Sequence[dict[str, Any]]) -> None:
    """One row per source, and the first reason of what is held."""
    table = Table(box=None, pad_edge=False)
    for name in ("source", "commit", "transaction", "proof"):
        table.add_column(name)
    for name in COUNTED:
        table.add_column(name, justify="right")
    for entry in report[:SHOWN_SOURCES]:
        counts = entry["counts"]
        table.add_row(
            *(
                Text(str(entry[name] or "-"))
                for name in ("source", "commit_number", "transaction_id", "proof")
            ),
            *(f"{counts[name]:,}" for name in COUNTED),
        )
    out.print(table)
    if len(report) > SHOWN_SOURCES:
        out.print(f"and {len(report) - SHOWN_SOURCES} sources more; --json or --export has all")
    for entry in report[:SHOWN_SOURCES]:
        if sentence := held_sentence(entry):
            out.print(Text(sentence), soft_wrap=True)
        for message in entry["quarantined"][:SHOWN_MESSAGES]:
            place = (
                f"{message['topic']}, partition {message['partition']}, offset {message['offset']}"
            )
            out.print(
                Text(f"{entry['source']}: quarantined {place} ({message['reason']})"),
                soft_wrap=True,
            )
        if len(entry["quarantined"]) > SHOWN_MESSAGES:
            more = len(entry["quarantined"]) - SHOWN_MESSAGES
            out.print(f"and {more:,} messages more; --json has all")
        for decision in entry["decisions"]:
            out.print(Text(f"{entry['source']}: {decision}"), soft_wrap=True)
        raised = ((flagged["table"], flagged["flag"]) for flagged in entry["flags"])
        for sentence in flag_sentences(entry["source"], raised):
            out.print(Text(sentence), soft_wrap=True)


def shape_sentences(shapes: "dict[str, ShapeReport]") -> list[str]:
    """Where models and tables have come apart, of the first sources."""
    shown = sorted(shapes.items())[:SHOWN_SOURCES]
    return [sentence for source, shape in shown for sentence in shape.sentences(source)]
