"""Each offset of a topic lands once, whatever retention, new partitions and new topics do."""

from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_debezium.errors import DebeziumError
from dbt_debezium.kafka.broker import PartitionEnds, Topic, TopicSettings, settings_of
from dbt_debezium.kafka.plan import (
    Landed,
    failed_sentences,
    noted,
    parts,
    plan_landing,
    plan_sentences,
)
from dbt_debezium.kafka.silence import Silence

QUIET = timedelta(minutes=5)
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


def topic(*partitions: tuple[int, int], id: str = "one", name: str = "t") -> Topic:
    ends = {number: PartitionEnds(*some) for number, some in enumerate(partitions)}
    return Topic(name, id, "delete", ends)


def test_a_new_topic_begins_at_its_first_offset() -> None:
    plan = plan_landing([topic((3, 7), (0, 0))], {})
    assert [(one.partition, one.start, one.end) for one in plan.ranges] == [(0, 3, 7), (1, 0, 0)]


def test_what_a_new_topic_had_before_its_first_offset_is_told() -> None:
    plan = plan_landing([topic((3, 7), (0, 4))], {})
    assert [(one.partition, one.start, one.end) for one in plan.lost] == [(0, 0, 3)]
    assert plan_landing([topic((3, 7))], {}, "latest").lost == ()


def test_a_limit_takes_the_first_offsets_of_each_partition() -> None:
    plan = plan_landing([topic((3, 7), (0, 2))], {}).limited(2)
    assert [(one.start, one.end) for one in plan.ranges] == [(3, 5), (0, 2)]
    assert [one.partition for one in plan.cut_off] == [0]


def test_latest_begins_a_new_topic_at_its_end_and_a_new_partition_at_its_start() -> None:
    plan = plan_landing([topic((0, 7))], {}, "latest")
    assert [(one.start, one.end) for one in plan.ranges] == [(7, 7)]
    landed = {("t", 0): Landed("one", 7)}
    plan = plan_landing([topic((0, 9), (0, 4))], landed, "latest")
    assert [(one.start, one.end) for one in plan.ranges] == [(7, 9), (0, 4)]


def test_what_retention_took_first_is_told() -> None:
    """It is a failure where messages had landed before; a new topic seldom has its beginning."""
    plan = plan_landing([topic((10, 12), (3, 4))], {("t", 0): Landed("one", 4)})
    assert [(one.start, one.end) for one in plan.ranges] == [(10, 12), (3, 4)]
    assert [(one.start, one.end) for one in plan.overtaken] == [(4, 10)]
    assert [(one.start, one.end) for one in plan.lost] == [(0, 3)]
    note, failure = plan_sentences("shop", plan)
    assert failed_sentences("shop", plan) == [failure]
    assert "retention removed 3 offsets" in note
    assert "retention removed 6 offsets" in failure


def test_a_topic_with_another_id_is_not_fetched() -> None:
    plan = plan_landing([topic((0, 99), id="two")], {("t", 0): Landed("one", 4)})
    assert plan.ranges == ()
    assert plan.recreated == ("t",)


def test_a_log_that_ends_before_what_has_landed_is_named_and_not_fetched() -> None:
    """Its offsets are given out again; those that have landed would never be fetched.

    An unclean election of a leader does that, and a recreated topic of a broker that has no ids.
    """
    landed = {("t", 0): Landed("one", 7), ("t", 1): Landed("one", 4), ("t", 2): Landed("one", 9)}
    plan = plan_landing([topic((0, 7), (0, 2), (0, 1)), topic((0, 3), name="u")], landed)
    assert [(one.topic, one.start, one.end) for one in plan.ranges] == [("u", 0, 3)]
    (sentence,) = plan_sentences("shop", plan)
    assert sentence.startswith(
        "shop: t: partition 1 ends at offset 2, although offsets up to 3 have landed, so the topic "
        "is not landed; the cluster has lost messages, or"
    )


def test_a_partition_without_news_is_noted_once() -> None:
    """A landing every half minute would write millions of rows a month that say nothing."""
    plan = plan_landing([topic((0, 7), (0, 0))], {})
    assert noted(plan, {}) == plan.ranges
    landed = {("t", 0): Landed("one", 7), ("t", 1): Landed("one", 0)}
    plan = plan_landing([topic((0, 9), (0, 0), (0, 0))], landed)
    assert [(one.partition, one.start, one.end) for one in noted(plan, landed)] == [
        (0, 7, 9),
        (2, 0, 0),
    ]


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def test_when_a_look_is_due_all_partitions_are_noted() -> None:
    """One time for all: a snapshot waits for each of them."""
    landed = {("t", 0): Landed("one", 7), ("t", 1): Landed("one", 0)}
    plan = plan_landing([topic((0, 7), (0, 0))], landed)
    assert noted(plan, landed) == ()
    assert noted(plan, landed, is_look_due=True) == plan.ranges


@pytest.mark.parametrize(
    ("looked_at", "sure_at", "due"),
    [
        # What has not moved was looked at before, or with the others, or long enough after them.
        (-9, -9, -4),
        (0, 0, 5),
        (4.9, 4.9, 9.9),
        (5, 5, None),
        # Replicas were behind, or a transaction was open.
        (60, None, 65),
    ],
)
def test_partitions_are_looked_at_until_all_are_sure_long_after_the_last_message(
    looked_at: float, sure_at: float | None, due: float | None
) -> None:
    """Minutes after noon, when the last messages landed."""
    sure = None if sure_at is None else at(sure_at)
    landed = {
        ("t", 0): Landed("one", 7, at(99), at(99)),
        ("t", 1): Landed("one", 0, at(looked_at), sure),
    }
    silence = Silence(landed, NOON, QUIET)
    assert silence.look_at == (None if due is None else at(due))
    assert silence.wake_up_at == (None if due is None else at(max(due, 5)))
    assert Silence(landed, NOON, timedelta(0)).look_at is None
    assert Silence(landed, None, QUIET).wake_up_at is None


def test_an_end_is_sure_where_all_was_fetched_and_nothing_is_held_up() -> None:
    well = plan_landing([topic((0, 7))], {})
    behind = plan_landing([Topic("t", "one", "delete", {0: PartitionEnds(0, 7, False)})], {})
    assert [one.is_sure_end for one in (*well.ranges, *behind.ranges)] == [True, False]
    assert [one.is_sure_end for one in well.limited(3).ranges] == [False]
    seen = Silence({}, None, QUIET).after(behind.ranges, NOON)
    assert (seen.partitions, seen.moved_at) == ({("t", 0): Landed("one", 7, NOON, None)}, NOON)
    landed = seen.partitions
    silent = plan_landing([topic((0, 7))], landed)
    again = seen.after(silent.ranges, at(5))
    assert again.partitions == {("t", 0): Landed("one", 7, at(5), at(5))}
    assert (again.moved_at, again.look_at) == (NOON, None)
    assert seen.is_proved_by(silent.ranges)
    assert not again.is_proved_by(silent.ranges)
    # Only the last look counts.
    held_up = plan_landing([Topic("t", "one", "delete", {0: PartitionEnds(0, 7, False)})], landed)
    assert again.after(held_up.ranges, at(6)).look_at == at(11)
    assert not seen.is_proved_by(held_up.ranges)


@given(
    logs=st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=6), min_size=1, max_size=4),
    most=st.integers(1, 60),
)
def test_any_growth_lands_each_offset_once(logs: list[list[int]], most: int) -> None:
    """Each list is a partition's growth from one landing to the next."""
    fetched: dict[int, list[int]] = {number: [] for number in range(len(logs))}
    landed: dict[tuple[str, int], Landed] = {}
    ends = [0] * len(logs)
    for step in range(max(map(len, logs))):
        for number, growth in enumerate(logs):
            ends[number] += growth[step] if step < len(growth) else 0
        plan = plan_landing([topic(*((0, end) for end in ends))], landed)
        for part in parts(plan.ranges, most):
            assert sum(one.end - one.start for one in part) <= most + len(part)
            for one in part:
                fetched[one.partition] += range(one.start, one.end)
                landed["t", one.partition] = Landed("one", one.end)
    assert fetched == {number: list(range(end)) for number, end in enumerate(ends)}


class JavaError(Exception):
    """As py4j shows an exception of Java's."""

    def __init__(self, name: str) -> None:
        self.java_exception = Mock(**{"getCause.return_value": None})
        self.java_exception.getClass.return_value.getSimpleName.return_value = name


def failed(name: str) -> Mock:
    """A future of Java's that has failed."""
    return Mock(**{"get.side_effect": JavaError(name)})


def test_a_cleanup_policy_that_did_not_come_is_no_policy_that_we_may_not_see() -> None:
    """Each control record in what lands meanwhile would be a gap for good."""
    options, nothing = {"bootstrap.servers": "b:9092"}, TopicSettings(None, None)
    assert settings_of("shop", options, failed("TopicAuthorizationException")) == nothing
    assert settings_of("shop", options, failed("UnsupportedVersionException")) == nothing
    with pytest.raises(DebeziumError, match="shop: b:9092: TimeoutException: "):
        settings_of("shop", options, failed("TimeoutException"))
