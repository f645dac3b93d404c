"""Whether all is well with a lake, in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from dbt_debezium.ages import moment_of, shown_age
from dbt_debezium.amounts import counted, duration
from dbt_debezium.status.acceptances import accepted_count, open_flags, open_messages
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.sentences import open_encoded_sentences

MUCH_OLDER: Final = timedelta(hours=1)
"""How much older than the newest commit that of a source is at least if it is named."""
OLDER_TIMES: Final = 3
"""And how many times as old."""
SHOWN_OLD: Final = 3
Level = Literal["well", "waiting", "wrong"]


@dataclass(frozen=True, slots=True)
class Summary:
    """The sentence at the top of the page."""

    level: Level
    """`waiting` where transactions are held and nothing else is to be said."""
    sentence: str


def summary_of(found: LakeStatus, now: datetime, problems: Sequence[str] = ()) -> Summary:
    """Whether all is well.

    Args:
        found: what `status` knows.
        now: when the page is made, UTC.
        problems: sentences on other matters, such as rounds.
    """
    report = found.report
    if not report:
        landed = counted(found.landed, "message has", "messages have")
        return Summary("wrong", f"Nothing is published: {landed} landed, and no run has published.")
    held = sum(len({one["transaction_id"] for one in entry["held"]}) for entry in report)
    quarantined = sum(len(open_messages(entry)) for entry in report)
    flagged = sum(len({one["table"] for one in open_flags(entry)}) for entry in report)
    accepted = accepted_count(report)
    matters = len(problems) + len(found.notices)
    matters += sum(len(one.sentences("")) for one in found.shapes.values())
    matters += len(found.unrepresentable)
    matters += sum(len(open_encoded_sentences(entry, "status")) for entry in report)
    troubles = (
        (quarantined, "message is quarantined", "messages are quarantined"),
        (flagged, "table is flagged", "tables are flagged"),
        (matters, "more matter needs a look", "more matters need a look"),
    )
    wrong = [counted(*trouble) for trouble in troubles if trouble[0]]
    waiting = [counted(held, "transaction is held", "transactions are held")] if held else []
    newest = newest_commit(report, now)
    but = f", {accepted:,} accepted" if accepted else ""
    if wrong:
        return Summary("wrong", f"Not all is well{but}: {joined([*wrong, *waiting])}{newest}.")
    if waiting:
        sentence = f"All is well so far{but}: {waiting[0]}, and nothing else{newest}."
        return Summary("waiting", sentence)
    published = sum(entry["commit_number"] > 0 for entry in report)
    sources = counted(published, "source is", "sources are")
    return Summary(
        "well",
        f"All is well{but}: {sources} published, and nothing{' else' if accepted else ''} is held, "
        f"quarantined or flagged{newest}.",
    )


def newest_commit(report: Sequence[dict[str, Any]], now: datetime) -> str:
    """How old the newest published commit is, to end a sentence; empty where no time is known.

    A source whose own one is much older is named, because the others would hide it.

    >>> from datetime import UTC
    >>> now = datetime(2026, 11, 21, 12, 3, tzinfo=UTC)
    >>> report = [{"source": "shop", "committed_at": "2026-11-21T12:00:00Z"},
    ...           {"source": "crm", "committed_at": "2026-11-19T12:00:00Z"},
    ...           {"source": "hr", "committed_at": None}]
    >>> newest_commit(report, now)
    '; newest commit 3 minutes ago, that of crm 2 days ago'
    """
    moments = [
        (moment, str(entry["source"]))
        for entry in report
        if (moment := moment_of(entry["committed_at"]))
    ]
    if not moments:
        return ""
    newest, _ = max(moments)
    limit = newest - max(MUCH_OLDER, OLDER_TIMES * (now - newest))
    old = sorted(one for one in moments if one[0] < limit)
    parts = [f"; newest commit {_ago(newest, now)}"]
    parts += [f"that of {source} {_ago(moment, now)}" for moment, source in old[:SHOWN_OLD]]
    if len(old) > SHOWN_OLD:
        more = counted(len(old) - SHOWN_OLD, "source more", "sources more")
        parts.append(f"and {more} over {duration((now - limit).total_seconds())} ago")
    return ", ".join(parts)


def _ago(moment: datetime, now: datetime) -> str:
    return shown_age((now - moment).total_seconds())


def joined(parts: Sequence[str]) -> str:
    """Parts as a list in a sentence.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
