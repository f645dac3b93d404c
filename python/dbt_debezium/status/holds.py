"""What a source holds first and why, in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dbt_debezium.amounts import chosen, counted
from dbt_debezium.names import SHOWN_NAMES, listed
from dbt_debezium.reasons import HELD, Command, Reason
from dbt_debezium.status.lacking import lacking_text

Held = dict[str, Any]
"""An entry of `held` in a report: one for each table that is short, or one without a table."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason to hold, with what is held for it."""

    first: list[Held]
    """The entries of the first transaction."""
    count: int
    """How many transactions are held for it, the first one too."""


@dataclass(frozen=True, slots=True)
class Holds:
    """Why a source holds what it holds. Each transaction counts once."""

    causes: list[Cause]
    """In the order of the log. If nothing but followers is held, they are the only one."""
    waiting_count: int
    """How many transactions are complete and only wait for those before them."""


def holds_of(held: Sequence[Held]) -> Holds:
    """The causes of a source.

    Transactions have one cause if they are held for one reason and a table is short in both.

    Args:
        held: all entries of the source, in the order of its log.

    >>> entries = [{"transaction_id": id, "reason": reason, "table": None} for id, reason in
    ...            (("1", "follows_held_snapshot"), ("2", "no_end"), ("3", "no_end"))]
    >>> found = holds_of(entries)
    >>> [(one.first[0]["transaction_id"], one.count) for one in found.causes], found.waiting_count
    ([('2', 2)], 1)
    """
    transactions: dict[str, list[Held]] = {}
    for one in held:
        transactions.setdefault(one["transaction_id"], []).append(one)
    own = [some for some in transactions.values() if HELD[some[0]["reason"]].remedy]
    waiting_count = len(transactions) - len(own)
    if not own:
        own, waiting_count = list(transactions.values()), 0
    causes: list[tuple[list[Held], list[list[Held]]]] = []
    for some in own:
        for first, alike in causes:
            if is_alike(first, some):
                alike.append(some)
                break
        else:
            causes.append((some, [some]))
    return Holds([Cause(first, len(alike)) for first, alike in causes], waiting_count)


def is_alike(first: Sequence[Held], other: Sequence[Held]) -> bool:
    """Whether one remedy may end both holds: the reason is the same, and a table that is short."""
    if first[0]["reason"] != other[0]["reason"]:
        return False
    tables = {one["table"] for one in first}
    return any(one["table"] in tables for one in other)


def held_sentence(entry: dict[str, Any], command: Command) -> str | None:
    """The first cause of a source in the order of its log; None when it holds nothing.

    Args:
        entry: the source's entry in the report.
        command: whose words to use.
    """
    return next(iter(held_sentences(entry, command)), None)


def held_sentences(entry: dict[str, Any], command: Command) -> list[str]:
    """One sentence for each cause. The first one also counts what the others do not.

    Args:
        entry: the source's entry in the report.
        command: whose words to use.
    """
    found = holds_of(entry["held"])
    return [
        f"{cause_sentence(entry['source'], cause, command)}{counts_text(found, number)}"
        for number, cause in enumerate(found.causes)
    ]


def cause_sentence(source: str, cause: Cause, command: Command) -> str:
    """Why the first transaction of a cause is held, and what to do."""
    first = cause.first[0]
    words = {"source": source, **tables_text(cause.first)}
    told = case_of(HELD[first["reason"]], cause.first).told(command, words)
    verb = "are" if is_messages(first["transaction_id"]) else "is"
    return f"{source}: {shown_id(first['transaction_id'])} {verb} held{time_text(first)}: {told}"


def time_text(held: Held) -> str:
    """When a held transaction was committed, in brackets; empty if that is not known.

    >>> time_text({"committed_at": "2026-11-21T02:36:49.500000Z", "reason": "missing_events"})
    ' (committed at 2026-11-21 02:36:49 UTC)'
    """
    if not held["committed_at"]:
        return ""
    # Without its END nothing says whether it has been committed.
    verb = "changed" if held["reason"] in ("no_end", "end_never_sent") else "committed"
    return f" ({verb} at {held['committed_at'][:19].replace('T', ' ')} UTC)"


def counts_text(found: Holds, number: int) -> str:
    """How many others are held, apart by why, as a second sentence.

    Args:
        found: of the source.
        number: of the cause that it stands behind.

    >>> counts_text(Holds([Cause([], 236), Cause([], 2)], 242), 0)
    '. 235 more are held for the same reason, 2 for other reasons, and 242 only wait behind them'
    >>> counts_text(Holds([Cause([], 1)], 7), 0), counts_text(Holds([Cause([], 1)], 0), 0)
    ('. 7 more only wait behind it', '')
    """
    same = found.causes[number].count - 1
    others = waiting = 0
    if number == 0:
        others = sum(one.count for one in found.causes[1:])
        waiting = found.waiting_count
    parts = []
    if same:
        parts.append(f"{counted(same, 'more is', 'more are')} held for the same reason")
    if others:
        first = f"{counted(others, 'more is', 'more are')} held for other reasons"
        parts.append(f"{others:,} for other reasons" if same else first)
    if waiting:
        wait = chosen(waiting, "waits", "wait")
        behind = "them" if parts else "it"
        more = "" if parts else " more"
        parts.append(f"{waiting:,}{more} only {wait} behind {behind}")
    if not parts:
        return ""
    *before, last = parts
    if not before:
        return f". {last}"
    return f". {', '.join(before)}{',' if len(before) > 1 else ''} and {last}"


def case_of(reason: Reason, held: Sequence[Held]) -> Reason:
    """The reason in the words for what is known of the tables.

    Args:
        reason: why the transaction is held.
        held: its entries, one for each table that is short, or one without a table.
    """
    if "transaction" in reason.cases and not is_snapshot(held[0]["transaction_id"]):
        return reason.cases["transaction"]
    tables = [one for one in held if one["table"]]
    if not tables:
        return reason.cases.get("no_table", reason)
    if any(one.get("lacks_old_values") for one in tables) and "old_values" in reason.cases:
        return reason.cases["old_values"]
    shown = shown_tables(tables)
    # What has not landed at all says more than what is short.
    if not shown[0]["has_landed"]:
        case = "nothing_landed"
    elif any(one["lacking"] for one in shown):
        case = "lacking"
    elif all(one["is_passed"] for one in shown):
        case = "passed"
    else:
        case = "some_landed"
    return reason.cases.get(case, reason)


def shown_tables(tables: Sequence[Held]) -> list[Held]:
    """Of the tables that are short those that a sentence names: first those that have not landed,
    then those of which it is known what has not.
    """
    return (
        [one for one in tables if not one["has_landed"]]
        or [one for one in tables if one["lacking"]]
        or list(tables)
    )


def tables_text(held: Sequence[Held]) -> dict[str, str]:
    """The tables of a transaction that are short, as names, options of `preview`, and patterns.

    >>> one = {"expected": 2, "received": 0, "has_landed": True, "lacking": []}
    >>> found = tables_text([one | {"table": "public.t", "has_landed": False},
    ...                      one | {"table": "public.u", "received": 1}])
    >>> found["table"], found["options"], found["expected"]
    ('public.t', "--not-ingested 'public.t'", '2')
    >>> tables_text([one | {"table": None}])["table"]
    'its tables'
    """
    short = shown_tables([one for one in held if one["table"]])
    names = [one["table"] for one in short]
    return {
        "table": listed(names, "tables") or "its tables",
        "lacking": lacking_text([lacking for one in short for lacking in one["lacking"]]),
        "options": " ".join(f"--not-ingested '{name}'" for name in names[:SHOWN_NAMES]),
        "quoted": ", ".join(f"'{name}'" for name in names[:SHOWN_NAMES]),
        **{
            count: f"{sum(one[count] or 0 for one in short):,}"
            for count in ("expected", "received")
        },
    }


def is_snapshot(transaction_id: str) -> bool:
    """Whether what is held is a snapshot.

    >>> is_snapshot("snapshot 10"), is_snapshot("702")
    (True, False)
    """
    return transaction_id.startswith("snapshot ")


def is_messages(transaction_id: str) -> bool:
    """Whether what is held is messages of which no transaction is known.

    >>> is_messages("messages without transaction"), is_messages("702")
    (True, False)
    """
    return transaction_id.startswith("messages ")


def shown_id(transaction_id: str) -> str:
    """What is held, for a sentence."""
    says_what = is_snapshot(transaction_id) or is_messages(transaction_id)
    return transaction_id if says_what else f"transaction {transaction_id}"
