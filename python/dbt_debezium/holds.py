"""What a source holds first and why, in one sentence."""

from collections.abc import Sequence
from typing import Any

from dbt_debezium.flags import SHOWN_NAMES, listed
from dbt_debezium.reasons import HELD, Command, Reason


def held_sentence(entry: dict[str, Any], command: Command) -> str | None:
    """The first cause of a source in the order of its log; None when it holds nothing.

    Args:
        entry: the source's entry in the report.
        command: whose words to use.

    >>> held = {"transaction_id": "702", "reason": "no_end", "table": None,
    ...         "expected": None, "received": None}
    >>> held_sentence({"source": "shop", "held": [held]}, "status")[:59]
    'shop: transaction 702 is held: its END has not landed (no_e'
    """
    held = entry["held"]
    if not held:
        return None
    first = first_cause(held)
    its_own = [one for one in held if one["transaction_id"] == first["transaction_id"]]
    count = len({one["transaction_id"] for one in held})
    more = f", and {count - 1:,} more" if count > 1 else ""
    words = {"source": entry["source"], **tables_text(its_own)}
    told = case_of(HELD[first["reason"]], its_own).told(command, words)
    verb = "are" if is_messages(first["transaction_id"]) else "is"
    return f"{entry['source']}: {shown_id(first['transaction_id'])} {verb} held{more}: {told}"


def first_cause(held: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The first entry about which something can be done; else the first."""
    return next((one for one in held if HELD[one["reason"]].remedy), held[0])


def held_sentences(entry: dict[str, Any], command: Command) -> list[str]:
    """The sentence of `held_sentence`, and one for the first cause of each other reason."""
    if not entry["held"]:
        return []
    first = first_cause(entry["held"])["reason"]
    others: dict[str, list[dict[str, Any]]] = {}
    for one in entry["held"]:
        if one["reason"] != first:
            others.setdefault(one["reason"], []).append(one)
    parts = [entry, *({**entry, "held": held} for held in others.values())]
    return [sentence for part in parts if (sentence := held_sentence(part, command))]


def case_of(reason: Reason, held: Sequence[dict[str, Any]]) -> Reason:
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
    # What has not landed at all says more than what is short.
    case = "some_landed" if all(one["received"] for one in tables) else "nothing_landed"
    return reason.cases.get(case, reason)


def tables_text(held: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The tables of a transaction that are short, as names, options of `preview`, and patterns.

    Of several it is those of which nothing has landed.

    >>> found = tables_text([{"table": "public.t", "expected": 2, "received": 0},
    ...                      {"table": "public.u", "expected": 2, "received": 1}])
    >>> found["table"], found["options"], found["expected"]
    ('public.t', "--not-ingested 'public.t'", '2')
    >>> tables_text([{"table": None, "expected": None, "received": None}])["table"]
    'its tables'
    """
    short = [one for one in held if one["table"]]
    short = [one for one in short if not one["received"]] or short
    names = [one["table"] for one in short]
    return {
        "table": listed(names, "tables") or "its tables",
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
