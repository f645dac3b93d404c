"""A report on the published cut, as `status` and `preview` print it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dbt_debezium.cli.console import out
from dbt_debezium.cli.tables import show_rows
from dbt_debezium.reasons import PREVIEWS, Command
from dbt_debezium.status.report import OUTCOMES
from dbt_debezium.status.sentences import by_need, own_sentences, shared_sentences

if TYPE_CHECKING:
    from dbt_debezium.status.shapes import ShapeReport

SHOWN_SOURCES = 20
SHOWN_SENTENCES = 20
NAMED = ("source", "commit_number", "transaction_id", "proof")
COUNTED = ("landed", *OUTCOMES)


def show_report(
    report: Sequence[dict[str, Any]], command: Command, without_truncate: Sequence[str] = ()
) -> None:
    """One row per source, and what is to be said of each; those that need a look come first.

    Args:
        report: entries of `cut_report`.
        command: the command that shows them.
        without_truncate: patterns of sources that are known to send no TRUNCATE.
    """
    ordered = by_need(report)
    rows = [
        (
            *(
                entry[name] or "-"
                for name in ("source", "commit_number", "transaction_id", "proof")
            ),
            *(f"{entry['counts'][name]:,}" for name in COUNTED),
        )
        for entry in ordered[:SHOWN_SOURCES]
    ]
    show_rows(("source", "commit", "transaction", "proof", *COUNTED), rows, COUNTED)
    if len(report) > SHOWN_SOURCES:
        everything = "--export writes all" if command in PREVIEWS else "--json lists all"
        out.print(f"and {len(report) - SHOWN_SOURCES} sources more; {everything}")
    for entry in ordered[:SHOWN_SOURCES]:
        for sentence in own_sentences(entry, command):
            out.say(sentence)
    for sentence in shared_sentences(report, command, without_truncate):
        out.say(sentence)


def shape_sentences(shapes: "dict[str, ShapeReport]") -> list[str]:
    """Where models and tables have come apart, of the first sources."""
    shown = sorted(shapes.items())[:SHOWN_SOURCES]
    return [sentence for source, shape in shown for sentence in shape.sentences(source)]
