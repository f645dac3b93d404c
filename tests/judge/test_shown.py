"""What rows of verdicts and partitions show, beside the verdicts themselves. No Spark."""

from pathlib import Path

import pytest
from narrow import table_of
from runs import Runs
from scenario import SERVER, play, played, read_scenario

from dbt_debezium.evidence import Known, Miscounted, Progress, State, UnitVerdict, judge_source
from dbt_debezium.evidence.facts import Range
from dbt_debezium.evidence.narrow import COLUMNS

SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("S*.md"))
FIRST = """
    transaction 0  BEGIN 701
    orders 0       create 1, in 701, at 110, numbers 1 1, follows nothing, time 5
    transaction 0  END 701, at 140, counts orders 1, time 6
"""
SECOND = """
    transaction 0  BEGIN 702
    orders 0       create 3, in 702, at 150, numbers 1 1, follows 140
    transaction 0  END 702, at 160, counts orders 1
"""


def place(number: int) -> str:
    return str(number).zfill(20)


def unit(runs: Runs, name: str) -> UnitVerdict:
    """The only row of a unit: of a transaction whose id begins so, or of a kind."""
    (found,) = (
        one for one in runs.units if one.unit_kind == name or one.unit_id.split(":")[0] == name
    )
    return found


def partition(runs: Runs, topic: str, number: int = 0) -> Progress:
    assert runs.judged is not None
    (found,) = (
        one
        for one in runs.judged.progress
        if one.topic.endswith(f".{topic}") and one.partition == number
    )
    return found


# --- commits


def test_a_commit_was_made_when_its_end_says() -> None:
    begin, change, end = FIRST.strip().split("\n")
    assert unit(played(FIRST), "701").committed_at == 6_000
    assert unit(played(f"{begin}\n{change}"), "701").committed_at == 1_000  # BEGIN says that
    assert unit(played(f"{end}\n{change}"), "701").committed_at == 6_000


def test_a_snapshot_was_made_when_its_last_row_was_read() -> None:
    reads = "orders 0  read 1, at 50, first, time 7\norders 0  read 2, at 50, last, time 9"
    runs = played(reads, "known landing_reaches_the_end")
    found = unit(runs, "snapshot")
    assert (found.verdict, found.committed_at, found.event_count) == ("commit", 9_000, 2)


def test_numbers_that_a_restart_began_again_show_no_order() -> None:
    (path,) = (one for one in SCENARIOS if one.stem == "S13-a-restart-with-an-overlap")
    *_, (runs, _, _) = play(read_scenario(path))
    assert unit(runs, "701").has_reset_counters
    assert not unit(played(FIRST), "701").has_reset_counters


# --- holds


def test_a_transaction_that_lacks_changes_shows_of_which_tables() -> None:
    runs = played(FIRST.replace("counts orders 1", "counts orders 3 and items 1") + SECOND)
    held = unit(runs, "701")
    assert held.held_reason == "missing_events"
    assert held.event_count == 4
    assert held.miscounted_tables == (
        Miscounted("public.items", 1, 0),
        Miscounted("public.orders", 3, 1),
    )
    assert (held.position, held.log_order) == (place(140), place(140))
    following = unit(runs, "702")
    assert (following.held_reason, following.miscounted_tables) == ("follows_held_transaction", ())


def test_a_transaction_without_end_is_sorted_by_its_last_change_and_counts_nothing() -> None:
    runs = played("\n".join(FIRST.splitlines()[:3]))
    held = unit(runs, "701")
    assert (held.held_reason, held.position, held.log_order) == ("no_end", None, place(110))
    assert (held.event_count, held.miscounted_tables) == (None, ())


def test_a_transaction_of_mysql_without_end_is_sorted_behind_the_end_before_it() -> None:
    runs = played(
        """
        transaction 0  BEGIN 1
        orders 0       create 1, in 1, at 100, numbers 1 1
        transaction 0  END 1, counts orders 1
        transaction 0  BEGIN 2
        orders 0       create 2, in 2, at 200, numbers 1 1
        """,
        connector="mysql",
    )
    (held,) = (one for one in runs.units if one.verdict == "hold")
    assert held.position is None
    assert (held.log_order or "").startswith(f"{place(1)}+")


@pytest.mark.parametrize("is_in_a_later_run", [False, True])
def test_what_lacks_a_change_that_cannot_be_read_says_so(is_in_a_later_run: bool) -> None:
    lost = FIRST.replace("counts orders 1", "counts orders 2")
    steps = (
        [f"{lost}orders 0  unreadable", ""]
        if is_in_a_later_run
        else [f"{lost}orders 0  unreadable"]
    )
    assert unit(played(*steps), "701").held_reason == "quarantined_event"
    elsewhere = lost + "items 0  unreadable"
    assert unit(played(elsewhere), "701").held_reason == "missing_events"


def test_a_snapshot_that_lacks_reads_shows_of_which_tables() -> None:
    runs = played(
        """
        orders 0       read 1, at 50, first
        orders 0       read 2, at 50, last_in_data_collection
        items 0        read 1, at 50
        transaction 0  BEGIN 701
        transaction 0  END 701, at 140, counts payments 1
        """
    )
    held = unit(runs, "snapshot")
    assert (held.held_reason, held.event_count) == ("snapshot_incomplete", 3)
    assert Miscounted("public.items", None, 1) in held.miscounted_tables
    assert Miscounted("public.payments", None, 0) in held.miscounted_tables


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_what_stays_open_is_held_or_passed_and_what_is_held_stays_open(path: Path) -> None:
    for runs, got, _ in play(read_scenario(path)):
        if got[0].startswith("refused"):
            continue
        assert runs.judged is not None
        waiting = {
            (one.kind, one.id)
            for one in runs.judged.state.open
            if one.kind in ("transaction", "snapshot", "window")
        }
        judged = {(one.unit_kind, one.unit_id): one.verdict for one in runs.units}
        # The judge says nothing of a blocking snapshot until something follows its reads.
        assert {judged.get(one, "hold") for one in waiting} <= {"hold", "passed"}
        assert {one[0] for one in waiting - judged.keys()} <= {"snapshot"}
        # Of a statement of DDL its own unit waits, whatever its transaction is called.
        statements = {one.transaction_id for one in runs.units if one.unit_kind == "statement"}
        held = {one for one, what in judged.items() if what == "hold" and one[0] != "statement"}
        assert {one for one in held if one[1] not in statements} <= waiting


def test_reads_of_another_server_are_published_with_the_transaction_that_they_name() -> None:
    """Its log has lower numbers, and a transaction of the first server lands in the same run."""
    runs = played(
        """
        transaction 0  BEGIN 1
        orders 0       create 1, in 1, at 100, numbers 1 1, file 5
        transaction 0  END 1, counts orders 1
        """,
        """
        transaction 0  BEGIN 2
        orders 0       create 2, in 2, at 200, numbers 1 1, file 5
        transaction 0  END 2, counts orders 1
        transaction 0  BEGIN b:1
        items 0        read 1, incremental, in b:1, at 300, server 8
        signals 0      create 1, in b:1, at 300, numbers 1 1, signal snapshot-window-close, server 8
        transaction 0  END b:1, counts signals 1
        known landing_reaches_the_end
        """,
        connector="mysql",
    )
    (window,) = (one for one in runs.units if one.unit_kind == "window")
    assert (window.verdict, window.transaction_id) == ("commit", f"{SERVER}:b:1")


def test_two_statements_at_one_place_are_one_unit() -> None:
    runs = played(
        """
        transaction 0  BEGIN 1
        orders 0       create 1, in 1, at 100, numbers 1 1
        transaction 0  END 1, counts orders 1
        ddl 0          drop orders, in 2, at 200
        ddl 0          drop orders, in b:2, at 200
        transaction 0  BEGIN b:3
        orders 0       create 3, in b:3, at 300, numbers 1 1
        transaction 0  END b:3, counts orders 1
        known landing_reaches_the_end
        """,
        connector="mysql",
    )
    assert [one.unit_kind for one in runs.units].count("statement") == 1


# --- partitions


def test_a_partition_shows_what_has_landed_in_it() -> None:
    runs = played(
        FIRST
        + """
        orders 0@2     unreadable
        orders 0@5     create 9, in 702, at 150, numbers 1 1, follows 140
        """
    )
    orders = partition(runs, "orders")
    assert orders.known_ranges == ((0, 0), (2, 2), (5, 5))
    assert (orders.contiguous_offset, orders.last_offset) == (0, 5)
    assert orders.unplaced_offsets == (2,)
    assert orders.data_collections == ("public.orders",)
    markers = partition(runs, "transaction")
    assert (markers.known_ranges, markers.data_collections) == (((0, 1),), ())


def test_what_a_partition_has_shown_stays_in_later_runs() -> None:
    runs = played(FIRST + "\norders 0  unreadable", SECOND, "")
    orders = partition(runs, "orders")
    assert (orders.link_position, orders.event_position) == (place(140), None)
    assert orders.unplaced_offsets == (1,)


def test_an_offset_is_placed_as_soon_as_its_message_can_be_read() -> None:
    runs = played(
        FIRST + "\norders 0  unreadable",
        "orders 0@1  create 2, in 702, at 150, numbers 1 1, follows 140",
    )
    assert partition(runs, "orders").unplaced_offsets == ()


def test_offsets_that_kafka_kept_for_itself_are_no_gap() -> None:
    runs = played(FIRST + "\norders 0@2  create 9, in 702, at 150, numbers 1 1, follows 140")
    rows, topic = table_of(runs.rows), "shop.public.orders"
    assert partition(runs, "orders").contiguous_offset == 0
    known = Known("shop", fetched=[Range(topic, 0, 0, 2), Range("shop.public.empty", 0, 0, 3)])
    found = {one.topic: one for one in judge_source(rows, State(), known).progress}
    assert found[topic].known_ranges == ((0, 2),)
    assert found["shop.public.empty"].last_offset == 3


def test_partitions_and_outcomes_of_no_rows_are_none() -> None:
    judged = judge_source(COLUMNS.empty_table(), State(), Known("shop"))
    assert (judged.verdicts, judged.progress, judged.outcomes.num_rows) == ([], [], 0)
