"""The history of rounds, its plots, and the cut of a source drawn."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_report_page import NOW, Reader, entry, health_of

from dbt_debezium.page import page_of
from dbt_debezium.page.cut import SHOWN, blocking_partitions, cut_of
from dbt_debezium.page.plots import HEIGHT, plots_of
from dbt_debezium.rounds.history import (
    KEPT_ROUNDS,
    KEPT_SECONDS,
    SPAN_SECONDS,
    Rounds,
    RoundsFile,
    Span,
    read_rounds,
)
from dbt_debezium.rounds.loop import Told
from dbt_debezium.rounds.round import Outcome
from dbt_debezium.rounds.sources import Landing
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.partition_ends import PartitionEnds, partition_ends
from dbt_debezium.status.published_rows import PublishedRows


def told(number: int, at: datetime, kind: str = "published", error: str | None = None) -> Told:
    outcome = None if error else Outcome(kind, Landing(message_count=10))  # type: ignore[arg-type]
    return Told(number, at, 1.5, outcome, error, int(bool(error)), 0)


def health(commits: int, held: int = 0, behind: float = 0.0) -> dict[str, Any]:
    sources = [{"source": "shop", "commit_number": commits, "held": held}]
    return {"sources": sources, "readers_behind_seconds": behind}


def test_rounds_of_ten_minutes_are_one_span(tmp_path: Path) -> None:
    file = RoundsFile(tmp_path / "rounds.json")
    begin = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
    file.round(told(1, begin), health(100, held=3, behind=40))
    file.round(told(2, begin + timedelta(minutes=4)), health(107, held=1, behind=2))
    file.round(told(3, begin + timedelta(minutes=9), error="broker: away"), health(107))
    file.round(told(4, begin + timedelta(minutes=10)), health(108))
    first, second = file.rounds.spans
    assert first == Span(int(begin.timestamp()), 3, 1, 20, 7, 3, 40)
    assert (second.rounds, second.commits) == (1, 1)


def test_the_history_survives_a_restart(tmp_path: Path) -> None:
    file = RoundsFile(tmp_path / "rounds.json")
    file.round(told(1, NOW), health(100))
    assert file.write() is None
    assert read_rounds(tmp_path / "rounds.json") == file.rounds
    assert RoundsFile(tmp_path / "rounds.json").rounds == file.rounds


@pytest.mark.parametrize("text", ["", "[]", '{"spans": 1}', "\x00"])
def test_a_history_that_cannot_be_read_begins_anew(text: str, tmp_path: Path) -> None:
    (tmp_path / "rounds.json").write_text(text)
    assert read_rounds(tmp_path / "rounds.json") == Rounds()


def test_rounds_without_news_are_counted_and_not_listed(tmp_path: Path) -> None:
    file = RoundsFile(tmp_path / "rounds.json")
    for number in range(2 * KEPT_ROUNDS):
        file.round(told(number, NOW, "published" if number % 2 else "no_news"), health(number))
    assert [one.number for one in file.rounds.last] == [*range(1, 2 * KEPT_ROUNDS, 2)]
    assert file.rounds.spans[0].rounds == 2 * KEPT_ROUNDS


def test_spans_of_more_than_a_month_ago_go(tmp_path: Path) -> None:
    file = RoundsFile(tmp_path / "rounds.json")
    for days in (0, 15, 40):
        file.round(told(1, NOW + timedelta(days=days)), health(1))
    assert len(file.rounds.spans) == 2


def test_a_clock_that_goes_back_forgets_what_it_has_not_reached(tmp_path: Path) -> None:
    file = RoundsFile(tmp_path / "rounds.json")
    file.round(told(1, NOW), health(1))
    file.round(told(2, NOW - timedelta(days=1)), health(1))
    assert [span.began for span in file.rounds.spans] == [
        int((NOW - timedelta(days=1)).timestamp()) // SPAN_SECONDS * SPAN_SECONDS
    ]


@given(
    st.dictionaries(st.integers(0, 7 * 144 - 1), st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.sampled_from([1, 7]),
)
def test_a_plot_counts_each_span_of_its_days_once(
    spans: dict[int, tuple[int, int]], days: int
) -> None:
    end = int(NOW.timestamp()) // SPAN_SECONDS
    rounds = Rounds(
        [
            Span((end - age) * SPAN_SECONDS, rounds=1, failed=failed, commits=commits)
            for age, (failed, commits) in sorted(spans.items(), reverse=True)
        ]
    )
    behind, held, published, failures = plots_of(rounds, NOW, days)
    assert (behind.bars, held.bars) == ([], [])
    for plot in (published, failures):
        assert all(0 <= bar.place < plot.count for bar in plot.bars)
        assert all(0 < bar.height <= HEIGHT for bar in plot.bars)
    total = sum(int(bar.hint.split()[-1]) for bar in published.bars)
    first = published.count * (days * 144 // published.count)
    inside = sum(commits for age, (_, commits) in spans.items() if age < first - first // 100 - 8)
    assert inside <= total <= sum(commits for _, commits in spans.values())
    assert failures.is_bad == bool(failures.bars)


class Lake:
    """A reader of rows that a lake would have."""

    def __init__(self, *rows: dict[str, Any], ends: dict[tuple[str, int], int]) -> None:
        self._rows, self._ends = rows, ends

    def has(self, name: str) -> bool:
        return True

    def views(self, schema: str) -> set[str]:
        return set()

    def rows(self, query: str) -> list[dict[str, Any]]:
        if "landing.range" in query:
            return [
                {"topic": topic, "partition": partition, "log_end_offset": end}
                for (topic, partition), end in self._ends.items()
            ]
        return [*self._rows]


def progress(partition: int, **other: Any) -> dict[str, Any]:
    return {
        "topic": "shop.public.orders",
        "partition": partition,
        "sources": ["shop"],
        "topic_source": "shop",
        "marker_source": None,
        "contiguous_offset": 9,
        "last_offset": 9,
        "waiting_count": None,
        "first_waiting_offset": None,
        **other,
    }


def test_a_partition_is_published_up_to_the_first_offset_that_waits() -> None:
    lake = Lake(
        progress(0),
        progress(1, waiting_count=2, first_waiting_offset=6),
        progress(2, contiguous_offset=4, last_offset=9),
        progress(3, sources=[], last_offset=None, contiguous_offset=None),
        ends={("shop.public.orders", 0): 12, ("shop.public.orders", 1): 10},
    )
    assert partition_ends(lake, "build") == {
        "shop": [
            PartitionEnds("shop.public.orders-0", 10, 0, 2, None),
            PartitionEnds("shop.public.orders-1", 6, 4, 0, None),
            PartitionEnds("shop.public.orders-2", 10, 0, 0, "5"),
            PartitionEnds("shop.public.orders-3", 0, 0, 0, None),
        ]
    }


def test_the_longest_bar_is_as_wide_as_there_is_room() -> None:
    cut = cut_of([PartitionEnds("a", 1, 30, 10, None), PartitionEnds("b", 1, 0, 4, None)])
    assert [(bar.waiting_percent, bar.unlanded_percent) for bar in cut.bars] == [(75, 25), (0, 10)]
    assert cut_of([]).bars == []


def test_what_the_first_held_transaction_waits_for_comes_first() -> None:
    def lacking(partition: int, what: str, offset: int | None = None) -> dict[str, Any]:
        return {"topic": "t", "partition": partition, "what": what, "first_offset": offset}

    held = [
        {"transaction_id": "1", "reason": "follows_held_snapshot", "lacking": []},
        {"transaction_id": "2", "reason": "missing_events", "lacking": [lacking(0, "end", 6)]},
        {"transaction_id": "2", "reason": "missing_events", "lacking": [lacking(1, "offsets", 5),
         lacking(2, "partition"), lacking(3, "perhaps")]},
        {"transaction_id": "3", "reason": "missing_events", "lacking": [lacking(4, "end", 6)]},
    ]  # fmt: skip
    ends = [PartitionEnds("t-4", 7, 1, 0, None), PartitionEnds("t-0", 7, 0, 0, None)]
    cut = cut_of(ends, blocking_partitions(held))
    assert [(bar.partition.name, bar.blocks) for bar in cut.bars] == [
        ("t-0", "has not landed past the first held transaction"),
        ("t-1", "offset 5 is missing"),
        ("t-2", "nothing of it has landed"),
        ("t-4", None),
    ]
    assert cut.quiet_count == 0


def test_partitions_that_are_published_to_their_end_are_counted_apart() -> None:
    ends = [PartitionEnds(f"t-{number}", 7, 0, 0, None) for number in range(SHOWN + 2)]
    cut = cut_of([PartitionEnds("a", 1, 0, 0, "5"), *ends])
    assert [bar.partition.name for bar in cut.bars] == ["a"]
    assert (cut.quiet_count, len(cut.quiet)) == (SHOWN + 2, SHOWN)


def test_a_page_of_a_thousand_tables_and_a_month_is_small_and_runs_no_script(
    tmp_path: Path,
) -> None:
    end = int(NOW.timestamp()) // SPAN_SECONDS * SPAN_SECONDS
    spans = [
        Span(end - age * SPAN_SECONDS, 20, age % 3, 500, 40, age % 90, age % 1_000)
        for age in reversed(range(KEPT_SECONDS // SPAN_SECONDS))
    ]
    partitions = [
        PartitionEnds(f"shop.public.table_{number}-0", number, number % 7, number % 5, None)
        for number in range(1_000)
    ]
    flags = [
        {"table": f"public.table_{number}", "flag": "no_baseline", "detail": None, "accepted": None}
        for number in range(1_000)
    ]
    rows = [
        PublishedRows(f"table_{number}", "shop", number * 999, 0, f"{NOW:%Y-%m-%dT%H:%M:%S.%fZ}")
        for number in range(1_000)
    ]
    sizes = {one.name: one.row_count * 99 for one in rows}
    found = LakeStatus(
        [entry(flags=flags)], 0, {}, {}, partitions={"shop": partitions}, rows=rows, sizes=sizes
    )
    _, text = page_of(found, health_of(tmp_path, state="waiting"), "lake", NOW, Rounds(spans), 30)
    assert len(text.encode()) < 200_000
    read = Reader(text)
    waiting = sum(one.needs_a_look for one in partitions)
    assert f"and {waiting - SHOWN} partitions more" in read.text
    assert f"{1_000 - waiting} partitions are published to the end" in read.text
    assert not any(name == "script" or name.startswith("on") for name, _ in read.tags)
    assert ("meta", {"http-equiv": "refresh", "content": "30"}) in read.tags


def test_the_file_of_a_month_stays_small(tmp_path: Path) -> None:
    spans = [
        Span(number * SPAN_SECONDS, 600, 600, 10**9, 10**6, 10**5, 123456.7)
        for number in range(KEPT_SECONDS // SPAN_SECONDS)
    ]
    assert len(msgspec.json.encode(Rounds(spans))) < 600_000
