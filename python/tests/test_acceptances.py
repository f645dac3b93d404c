"""What an operator accepts asks for nothing any more, and stays visible. No Spark."""

from datetime import UTC, datetime
from typing import Any

import pytest

from dbt_debezium.cli.console import out
from dbt_debezium.cli.status import say
from dbt_debezium.page import page_of
from dbt_debezium.reasons.accepted import SETTINGS, Acceptance
from dbt_debezium.rounds.behind import sources_of
from dbt_debezium.status.acceptances import accept, accepted_sentences, idle_acceptances
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.report import OUTCOMES
from dbt_debezium.status.sentences import own_sentences, shared_sentences
from dbt_debezium.status.shapes import ShapeReport, accept_tables

NOW = datetime(2026, 11, 28, 12, 0, 0, tzinfo=UTC)
BY = "Ann on 2026-11-21 (it began empty)"


def entry(source: str = "shop") -> dict[str, Any]:
    """A source about which something of each kind is to be said."""
    return {
        "source": source,
        "commit_number": 9,
        "commit_position": "7",
        "transaction_id": "6",
        "proof": "watermark",
        "committed_at": "2026-11-28T11:59:00.000000Z",
        "decisions": [],
        "held": [],
        "counts": {"landed": 9, **dict.fromkeys(OUTCOMES, 0)},
        "quarantined": [
            {"topic": "shop.t-1", "partition": 2, "offset": at, "reason": "bad_json",
             "detail": None} for at in (7, 8)
        ],
        "flags": [
            {"table": "public.t", "flag": "no_baseline", "detail": None},
            {"table": "public.u", "flag": "no_baseline", "detail": None},
        ],
        "internal_topics": [],
        "connector": "postgresql",
        "has_end": True,
        "has_truncate": False,
        "encoded_columns": {"public.t": {"at": "days"}},
    }  # fmt: skip


def acceptances(*whats: str, source: str = "shop") -> list[Acceptance]:
    return [Acceptance(source, what, BY) for what in whats]


EVERYTHING = (
    "flag no_baseline of public.*",
    "message shop.t-1-2-7",
    "message shop.t-1-2-8",
    *(f"setting {name}" for name in SETTINGS),
    "table public.audit",
)


def lake(*whats: str) -> LakeStatus:
    """A lake in which these are accepted."""
    report = [entry()]
    accept(report, acceptances(*whats))
    shapes = {"shop": ShapeReport(unmodelled={"public.audit": {"id"}})}
    accept_tables(shapes, report)
    return LakeStatus(report, 0, shapes, {})


def test_all_is_well_once_all_that_stays_is_accepted() -> None:
    found = lake(*EVERYTHING)
    summary, text = page_of(found, None, "lake", NOW)
    assert summary.level == "well"
    assert summary.sentence == (
        "All is well, 8 accepted: 1 source is published, and nothing else is held, quarantined or "
        "flagged; newest commit 60 seconds ago."
    )
    (source,) = found.report
    assert own_sentences(source, "status") == accepted_sentences(source)
    assert shared_sentences(found.report, "status") == []
    assert sources_of(found.report)[0]["flagged"] == 0
    assert sources_of(found.report)[0]["accepted"] == 8
    with out.capture() as captured:
        say(found)
    for sentence in accepted_sentences(source):
        assert sentence in captured.get()
        assert sentence in text


@pytest.mark.parametrize("left", EVERYTHING)
def test_what_is_not_accepted_still_asks_for_something(left: str) -> None:
    found = lake(*(what for what in EVERYTHING if what != left))
    summary, _ = page_of(found, None, "lake", NOW)
    assert summary.level == "wrong"
    assert summary.sentence.startswith(f"Not all is well, {6 if 'flag' in left else 7} accepted: ")


def test_a_sentence_names_what_is_accepted_with_who_and_why() -> None:
    first = accepted_sentences(lake(*EVERYTHING).report[0])[0]
    assert first == f"shop: accepted: flag no_baseline of public.* (2 of them), by {BY}"


def test_a_flag_of_one_table_is_accepted_for_no_other() -> None:
    (source,) = lake("flag no_baseline of public.t").report
    flagged = next(one for one in own_sentences(source, "status") if "(no_baseline)" in one)
    assert flagged.startswith("shop: public.u: ")


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("flag no_base of public.t", "no_base is no flag; flags are append_only, "),
        ("setting acks", "acks is no setting that can stay; these can: provide.transaction."),
        ("message shop.t-1", "nothing that can be accepted is called so; write flag <flag> of "),
        ("1946", "nothing that can be accepted is called so; write flag <flag> of "),
        ("flag no_baseline of public.x", "has had no effect: no such table is flagged no_baseline"),
        ("flag append_only of public.t", "has had no effect: no such table is flagged append_only"),
        ("message shop.t-1-2-9", "has had no effect: no such message is quarantined; correct it"),
        ("table public.t", "has had no effect: no table of that name is without a model"),
    ],
)
def test_a_wrong_acceptance_is_a_sentence(what: str, says: str) -> None:
    report = lake(what).report
    (sentence,) = idle_acceptances(report, acceptances(what))
    assert what in sentence
    assert says in sentence
    assert accepted_sentences(report[0]) == []
    assert [one for one in report[0]["flags"] if one["accepted"]] == []


def test_an_acceptance_of_an_unknown_source_is_a_sentence() -> None:
    (sentence,) = idle_acceptances([], acceptances("setting skipped.operations", source="shp"))
    assert sentence.startswith("shp: accepting setting skipped.operations has had no effect: no s")


def test_what_nobody_has_looked_for_is_not_said_to_have_no_effect() -> None:
    """As columns that look encoded, for which a run does not look."""
    source = entry()
    del source["encoded_columns"]
    whats = ("setting value.converter.schemas.enable", "table public.audit")
    accept([source], acceptances(*whats))
    assert idle_acceptances([source], acceptances(*whats)) == []
