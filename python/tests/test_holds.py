"""The sentence on what is held names a cause, its numbers add up, and its remedy is one. No Spark.

Partitions are rows as the lake has them. tests/pipeline/test_missing_partition.py has a lake.
"""

from typing import Any

import duckdb
import pytest
import sqlglot

from dbt_debezium.cli.console import out
from dbt_debezium.cli.shown_report import SHOWN_SOURCES, show_report
from dbt_debezium.reasons import HELD, Command
from dbt_debezium.status.held_tables import HELD_TABLES, name_tables
from dbt_debezium.status.holds import held_sentence, held_sentences, holds_of
from dbt_debezium.status.report import OUTCOMES, explain_short_tables

ITEMS = "shop.public.order_items"


def partition(topic: str, number: int, *ranges: tuple[int, int], **other: Any) -> dict[str, Any]:
    """A partition in which these ranges of offsets have landed, and that is past position 100."""
    found = [{"first_offset": first, "last_offset": last} for first, last in ranges]
    return {
        "topic": topic,
        "partition": number,
        "topic_source": "shop",
        "sources": ["shop"] if ranges else [],
        "data_collections": [topic.partition(".")[2]] if ranges else [],
        "contiguous_offset": ranges[0][1] if ranges else None,
        "last_offset": ranges[-1][1] if ranges else None,
        "first_ranges": found[:2],
        "event_position": "0120" if ranges else None,
        "link_position": "0110" if ranges else None,
        **other,
    }


def short(
    transaction_id: str, *, reason: str = "missing_events", received: int = 12, **other: Any
) -> dict[str, Any]:
    return {
        "transaction_id": transaction_id,
        "reason": reason,
        "table": "public.order_items" if reason == "missing_events" else None,
        "expected": 15,
        "received": received,
        "commit_position": "0100",
        "committed_at": "2026-11-21T02:36:50.294000Z",
        "has_landed": True,
        "lacking": [],
        "is_passed": False,
        **other,
    }


def sentence_of(
    partitions: list[dict[str, Any]], *held: dict[str, Any], connector: str | None = "postgresql"
) -> str:
    entry = {"source": "shop", "connector": connector, "held": list(held or [short("7")])}
    explain_short_tables(entry, partitions)
    return held_sentence(entry, "status") or ""


WHOLE = [partition(ITEMS, number, (0, 500)) for number in range(3)]


def without(number: int) -> list[dict[str, Any]]:
    return [one for one in WHOLE if one["partition"] != number]


def test_a_partition_of_which_nothing_has_landed_is_the_cause() -> None:
    sentence = sentence_of(without(1))
    assert sentence.startswith(
        "shop: transaction 7 is held (committed at 2026-11-21 02:36:50 UTC): 12 of 15 changes of "
        "public.order_items: partition 1 of shop.public.order_items has not landed "
        "(missing_events); land what is missing of that topic"
    )


@pytest.mark.parametrize(
    ("partitions", "says"),
    [
        (
            [*without(1), partition(ITEMS, 1, (0, 40), (46, 500))],
            "offsets 41 to 45 of partition 1 of shop.public.order_items have not landed",
        ),
        (
            [*without(1), partition(ITEMS, 1, (0, 40), link_position="0090")],
            "partition 1 of shop.public.order_items has landed up to offset 40, not past it",
        ),
        (
            [*without(1), partition(ITEMS, 1, (30, 500))],
            "offsets 0 to 29 of partition 1 of shop.public.order_items have not landed",
        ),
        (
            [*without(2), *(partition("shop.public.orders", number, (0, 9)) for number in (0, 2))],
            "all partitions of shop.public.order_items that have landed are past it, but other "
            "topics also have partition 2",
        ),
        (WHOLE, "every partition of its topic is past it, so something took the others out"),
        ([*without(1), partition(ITEMS, 1)], "every partition of its topic is past it"),
    ],
    ids=["gap", "lags", "beginning", "perhaps", "dropped", "empty"],
)
def test_the_sentence_says_what_has_not_landed(partitions: list[dict[str, Any]], says: str) -> None:
    assert says in sentence_of(partitions)


def test_offsets_of_end_are_not_compared_with_places_of_changes() -> None:
    """As of MySQL, where nothing tells whether a partition is past a transaction."""
    lagging = partition(ITEMS, 1, (0, 40), link_position=None, event_position="0")
    sentence = sentence_of([*without(1), lagging], connector="mysql")
    assert "12 of 15 changes of public.order_items have landed (missing_events)" in sentence


@pytest.mark.parametrize("received", [0, 12])
def test_a_table_of_which_anything_has_landed_is_never_to_be_left_out(received: int) -> None:
    others = (
        [],
        without(1),
        WHOLE,
        [partition("shop.all", 0, (0, 9), data_collections=["a", "z"])],
    )
    for partitions in others[1:]:
        assert "not_ingested_tables" not in sentence_of(partitions, short("7", received=received))
    assert "list 'public.order_items' in not_ingested_tables" in sentence_of(
        [partition("shop.public.orders", 0, (0, 9))], short("7", received=0)
    )


def test_numbers_add_up_and_what_only_waits_is_counted_apart() -> None:
    held = [
        short("0", reason="follows_held_transaction"),
        *(short(str(number)) for number in range(1, 237)),
        *(short(f"w{number}", reason="follows_held_transaction") for number in range(241)),
        *(short(f"e{number}", reason="no_end") for number in range(2)),
    ]
    entry = {"source": "shop", "connector": "postgresql", "held": held}
    explain_short_tables(entry, without(1))
    first, other = held_sentences(entry, "status")
    assert first.startswith("shop: transaction 1 is held")
    assert first.endswith(
        ". 235 more are held for the same reason, 2 for other reasons, "
        "and 242 only wait behind them"
    )
    assert other.startswith("shop: transaction e0 is held")
    assert other.endswith(". 1 more is held for the same reason")
    found = holds_of(held)
    assert sum(one.count for one in found.causes) + found.waiting_count == len(held)


def test_a_transaction_that_lacks_another_table_too_has_the_same_cause() -> None:
    held = [
        short("1"),
        short("2", table="public.a"),
        short("2"),
        short("3", table="public.b"),
    ]
    assert [one.count for one in holds_of(held).causes] == [2, 1]


def test_of_many_sources_those_that_need_a_look_come_first() -> None:
    def entry(number: int) -> dict[str, Any]:
        return {
            "source": f"s{number:02}", "commit_number": 3, "transaction_id": "9",
            "proof": "counted", "held": [], "decisions": [], "quarantined": [], "flags": [],
            "counts": {"landed": 9, **dict.fromkeys(OUTCOMES, 0)}, "internal_topics": [],
            "connector": "postgresql", "has_end": True, "has_truncate": True, "accepted": [],
        }  # fmt: skip

    report = [entry(number) for number in range(39)]
    report[30]["held"] = [short("7", reason="no_end")]
    report[38]["commit_number"] = 0
    report[25]["flags"] = [
        {"table": "public.t", "flag": "no_baseline", "detail": None, "accepted": None}
    ]
    with out.capture() as captured:
        show_report(report, "preview")
    shown = [line.split()[0] for line in captured.get().splitlines()[1 : 1 + SHOWN_SOURCES]]
    assert shown[:4] == ["s30", "s38", "s25", "s00"]
    assert "s30: transaction 7 is held" in captured.get()


def takes(table: str, *, lacks_old_values: bool = False) -> dict[str, Any]:
    return {
        "source": "shop",
        "transaction_id": "7",
        "data_collection": table,
        "has_failed": True,
        "is_torn": False,
        "lacks_old_values": lacks_old_values,
    }


def named(reason: str, *rows: dict[str, Any], command: Command = "status") -> tuple[str, Any]:
    """The sentence of a transaction that is held for tables, and the first table in the report."""
    entry = {"source": "shop", "connector": "mysql", "held": [short("7", reason=reason)]}
    name_tables(entry, rows)
    explain_short_tables(entry, [partition("shop.public.log", 0, (0, 9))])
    return held_sentence(entry, command) or "", entry["held"][0]["table"]


def test_a_row_that_is_missing_is_of_a_table_that_is_named() -> None:
    other = takes("public.other") | {"has_failed": False}
    of_another_source = takes("public.foreign") | {"source": "bank"}
    rows = (other, takes("public.log"), of_another_source)
    sentence, table = named("missing_row", *rows)
    assert table == "public.log"
    assert "it takes a row that public.log, which has no key, does not hold (missing_row)" in (
        sentence
    )
    assert "identity of its history model" in sentence
    sentence, _ = named("missing_row", *rows, command="preview")
    assert "--identity" in sentence
    assert "history model" not in sentence


def test_an_old_row_without_its_large_values_is_the_fault_of_the_row_image() -> None:
    sentence, _ = named("missing_row", takes("public.log", lacks_old_values=True))
    assert "large values of the old row were not sent" in sentence
    assert "set binlog_row_image=FULL" in sentence


def test_a_torn_key_change_names_its_table_and_what_is_missing_of_its_topic() -> None:
    torn = takes("public.log") | {"has_failed": False, "is_torn": True}
    sentence, table = named("incomplete_key_change", torn)
    assert table == "public.log"
    assert "a row of public.log left its key and arrived under no other one" in sentence


@pytest.mark.parametrize("reason", ["missing_row", "incomplete_key_change"])
def test_a_table_that_nothing_shows_is_not_made_up(reason: str) -> None:
    sentence, table = named(reason)
    assert table is None
    assert ("a table without a key" if reason == "missing_row" else "its tables") in sentence


@pytest.mark.parametrize("reason", HELD)
@pytest.mark.parametrize("command", ["preview --complete", "preview kafka --complete"])
def test_nobody_is_asked_for_complete_who_has_passed_it(reason: str, command: Command) -> None:
    for one in (HELD[reason], *HELD[reason].cases.values()):
        words = dict.fromkeys(("source", "table", "options", "expected", "received"), "x")
        told = one.told(command, words | {"lacking": "x", "quoted": "x"})
        assert "complete if" not in told
        assert not told.endswith(("; ", "or ", ", "))
        assert "{" not in told


def test_the_query_for_held_tables_says_which_they_are() -> None:
    """In DuckDB, in which `status` asks it too."""
    lake = duckdb.connect()
    lake.execute("create schema build")
    lake.execute("create table build.cut as select 1 as cut_id, 'published' as channel")
    lake.execute(
        "create table build.held_transaction__stored as from (values (1, 's', '7', "
        "'incomplete_key_change'), (1, 's', '8', 'missing_row'), (1, 's', '9', 'no_end'), "
        "(1, 's', 'snapshot 7', 'row_without_identity')) "
        "as held (cut_id, source, transaction_id, held_reason)"
    )
    lacking = '{"a":"__debezium_unavailable_value"}'
    torn = ("7", "transaction", "public.torn", "d", "1", "2", None, None)
    lake.execute(
        "create table build.held_message (cut_id int, source text, transaction_id text, "
        "unit_kind text, data_collection text, operation text, row_key text, new_row_key text, "
        "old_row_key text, before text)"
    )
    lake.executemany(
        "insert into build.held_message values (1, 's', ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            torn,
            torn,  # delivered twice
            ("7", "transaction", "public.whole", "d", "1", "2", None, None),
            ("7", "transaction", "public.whole", "c", "2", None, "1", None),
            ("8", "transaction", "public.bag", "u", None, None, None, lacking),
            ("8", "transaction", "public.other", "c", None, None, None, None),
            ("9", "transaction", "public.other", "c", None, None, None, None),
            (None, "snapshot", "public.keyed", "r", None, None, None, None),
            (None, "snapshot", "public.other", "r", "1", None, None, None),
        ],
    )
    lake.execute(
        "create table build.failed_transaction as from (values "
        "('s', '8', 'missing_row', 'public.bag'), "
        "('s', 'snapshot 7', 'row_without_identity', 'public.keyed')) "
        "as failed (source, transaction_id, held_reason, data_collection)"
    )
    (query,) = sqlglot.transpile(HELD_TABLES.format(schema="build"), "spark", "duckdb")
    found = lake.execute(query)
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    assert [(row["data_collection"], row["is_torn"], row["has_failed"]) for row in rows] == [
        ("public.torn", True, False),
        ("public.whole", False, False),
        ("public.bag", False, True),
        ("public.other", False, False),
        ("public.keyed", False, True),
        ("public.other", False, False),
    ]
    assert [row["lacks_old_values"] for row in rows] == [False, False, True, False, False, False]
