"""Whether all is well with a lake, in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dbt_debezium.lake_status import LakeStatus
from dbt_debezium.value_looks import encoded_sentences

Level = Literal["well", "waiting", "wrong"]


@dataclass(frozen=True, slots=True)
class Summary:
    """The sentence at the top of the page."""

    level: Level
    """`waiting` where transactions are held and nothing else is to be said."""
    sentence: str


def summary_of(found: LakeStatus, problems: Sequence[str] = ()) -> Summary:
    """Whether all is well.

    Args:
        found: what `status` knows.
        problems: sentences on other matters, such as rounds.
    """
    report = found.report
    if not report:
        return Summary(
            "wrong",
            f"Nothing is published: {count(found.landed, 'message has', 'messages have')} landed, "
            "and no run has published.",
        )
    held = sum(len({one["transaction_id"] for one in entry["held"]}) for entry in report)
    quarantined = sum(len(entry["quarantined"]) for entry in report)
    flagged = sum(len({one["table"] for one in entry["flags"]}) for entry in report)
    matters = len(problems) + len(found.notices)
    matters += sum(len(one.sentences("")) for one in found.shapes.values())
    matters += len(found.unrepresentable)
    matters += sum(
        len(encoded_sentences(entry["source"], entry["encoded_columns"], "status"))
        for entry in report
    )
    wrong = [
        *([f"{count(quarantined, 'message is', 'messages are')} quarantined"] * bool(quarantined)),
        *([f"{count(flagged, 'table is', 'tables are')} flagged"] * bool(flagged)),
        *([f"{count(matters, 'more matter needs', 'more matters need')} a look"] * bool(matters)),
    ]
    waiting = [f"{count(held, 'transaction is', 'transactions are')} held"] * bool(held)
    if wrong:
        return Summary("wrong", f"Not all is well: {joined([*wrong, *waiting])}.")
    if waiting:
        return Summary("waiting", f"All is well so far: {joined(waiting)}, and nothing else.")
    published = sum(entry["commit_number"] > 0 for entry in report)
    sources = count(published, "source is", "sources are")
    return Summary(
        "well", f"All is well: {sources} published, and nothing is held, quarantined or flagged."
    )


def count(number: int, one: str, more: str) -> str:
    """A number with what is counted.

    >>> count(1, "table is", "tables are"), count(1_200, "table is", "tables are")
    ('1 table is', '1,200 tables are')
    """
    return f"{number:,} {one if number == 1 else more}"


def joined(parts: Sequence[str]) -> str:
    """Parts as a list in a sentence.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
