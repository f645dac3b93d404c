"""What commands say of a source, from entries of its report. No Spark."""

from typing import Any

import pytest

from dbt_debezium.reasons import HELD, Command
from dbt_debezium.status.sentences import own_sentences, shared_sentences

ENTRY: dict[str, Any] = {
    "source": "shop",
    "connector": "postgresql",
    "proof": "counted",
    "held": [],
    "counts": {"landed": 9},
    "quarantined": [],
    "decisions": [],
    "flags": [],
    "accepted": [],
    "internal_topics": [],
    "has_end": True,
    "has_truncate": True,
}


def held(transaction_id: str, reason: str, *tables: tuple[str, int | None, int]) -> list[Any]:
    """Entries of one transaction or snapshot, in the order of the log.

    A table of which nothing has landed for the transaction is one of which nothing has at all.
    """
    return [
        {
            "transaction_id": transaction_id,
            "reason": reason,
            "table": table,
            "expected": expected,
            "received": received,
            "commit_position": None,
            "committed_at": None,
            "has_landed": bool(received),
            "lacking": [],
            "is_passed": False,
        }
        for table, expected, received in tables or [(None, None, None)]
    ]


def first_sentence(command: Command, *entries: list[Any]) -> str:
    (sentence,) = own_sentences(
        ENTRY | {"held": [one for some in entries for one in some]}, command
    )
    return sentence


def test_the_first_cause_is_named_and_not_what_waits_before_it_or_stands_behind_it() -> None:
    sentence = first_sentence(
        "status",
        held("700", "follows_held_transaction"),
        held("701", "no_commit_position"),
        held("702", "missing_events", ("public.t", 2, 1)),
    )
    assert sentence.startswith("shop: transaction 701 is held: its END has no position")
    assert sentence.endswith(". 1 more is held for other reasons and 1 only waits behind them")
    assert "(no_commit_position)" in sentence
    assert "new initial snapshot" in sentence


def test_a_snapshot_that_lacks_a_table_names_it_and_how_to_leave_it_out() -> None:
    lacking = held(
        "snapshot 10", "snapshot_incomplete", ("public.t", None, 3), ("public.audit", None, 0)
    )
    told = first_sentence("preview", lacking)
    assert "nothing of public.audit has landed" in told
    assert "--not-ingested 'public.audit'" in told
    assert "public.t" not in told.replace("public.audit", "")
    assert "list 'public.audit' in not_ingested_tables" in first_sentence("run", lacking)


def test_a_snapshot_of_a_dump_is_told_first_that_complete_may_prove_it() -> None:
    for reason in ("snapshot_incomplete", "snapshot_unconfirmed"):
        _, _, remedy = first_sentence("preview", held("snapshot 10", reason)).partition("; ")
        assert remedy.startswith("pass --complete if the dump is whole")


@pytest.mark.parametrize("reason", HELD)
@pytest.mark.parametrize("tables", [(), (("public.t", 2, 1),), (("public.t", 2, 0),)])
def test_counts_stand_only_where_end_gives_them(
    reason: str, tables: tuple[tuple[str, int | None, int], ...]
) -> None:
    sentence = first_sentence("preview", held("7", reason, *tables))
    assert "None" not in sentence
    assert " of 0 " not in sentence
    assert "{" not in sentence


def test_names_from_the_data_are_shown_as_they_are() -> None:
    sentence = first_sentence("preview", held("7", "missing_events", ("public.{source}", 2, 0)))
    assert "nothing of public.{source} has landed" in sentence
    assert "--not-ingested 'public.{source}'" in sentence


def message(topic: str, offset: int, reason: str) -> dict[str, Any]:
    detail = "value: expected an object"
    return {"topic": topic, "partition": 1, "offset": offset, "reason": reason, "detail": detail,
            "accepted": None}  # fmt: skip


def test_quarantined_messages_are_counted_by_topic_and_reason() -> None:
    messages = [message("shop.t", offset, "bad_json") for offset in range(4, 2004)]
    found = own_sentences(
        ENTRY | {"quarantined": [*messages, message("shop.t", 9, "too_deep")]}, "preview"
    )
    assert len(found) == 2
    assert found[0].startswith(
        "shop: 2,000 messages are quarantined in topic shop.t "
        "(the first is partition 1, offset 4): "
    )
    assert found[0].endswith("; detail: value: expected an object")


def test_what_is_true_of_many_sources_is_said_once() -> None:
    report = [
        ENTRY | {"source": "a", "proof": "watermark"},
        ENTRY | {"source": "b", "proof": "watermark"},
        ENTRY | {"source": "c", "has_end": False, "held": held("1", "no_end")},
    ]
    metadata, end = shared_sentences(report, "preview")
    assert metadata.startswith("a, b: ")
    assert "provide.transaction.metadata=true" in metadata
    assert end.startswith("c: no END has landed")
