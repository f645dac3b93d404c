"""What is wrong with a lake or its rounds, as things that begin, worsen and end."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from dbt_debezium.amounts import duration
from dbt_debezium.rounds.health import RoundsHealth
from dbt_debezium.status.acceptances import open_flags, open_messages
from dbt_debezium.status.flags import flag_sentences
from dbt_debezium.status.holds import held_sentence
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.quarantined import quarantine_sentences

READERS_BEHIND_SECONDS: Final = 300
"""How long readers may stand still before that is a problem."""
FAILED_ROUNDS: Final = 2
"""How many rounds in a row must fail: one alone is mostly a broker that was away for a moment."""

Kind = Literal["rounds_failed", "readers_behind", "quarantined", "flagged"]
KINDS_OF_LAKE: Final = ("quarantined", "flagged")
"""What only a look at the lake knows; the rounds know the others."""
Event = Literal["begins", "worsens", "ends"]


class Key(NamedTuple):
    """What stays the same from its begin to its end."""

    kind: Kind
    source: str
    """Empty for rounds."""
    what: str
    """The reason of a quarantine, or table and flag."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    key: Key
    size: int
    """Failed rounds, seconds behind, quarantined messages, or 1."""
    sentence: str
    """What `status` or a round reports of it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A problem that has begun, has doubled since the last change, or has ended."""

    event: Event
    problem: Problem


def problems_of(found: LakeStatus | None, health: RoundsHealth) -> list[Problem]:
    """All that is wrong.

    Args:
        found: the lake as it was last looked at; None before.
        health: how the rounds are.
    """
    problems = [*_of_rounds(health), *_of_readers(found, health)]
    for entry in found.report if found else ():
        problems += [*_of_quarantine(entry), *_of_flags(entry)]
    return problems


def changes_of(before: Mapping[Key, Problem], now: Sequence[Problem]) -> list[Change]:
    """What has begun, worsened and ended.

    Args:
        before: problems as they were in their last change.
        now: those of now.

    >>> key = Key("quarantined", "shop", "not_json")
    >>> one, three = Problem(key, 1, "1 message"), Problem(key, 3, "3 messages")
    >>> [[change.event for change in changes_of(*each)] for each in (
    ...     ({}, [one]), ({key: one}, [one]), ({key: one}, [three]), ({key: three}, []))]
    [['begins'], [], ['worsens'], ['ends']]
    """
    there = {one.key for one in now}
    begun = [Change("begins", one) for one in now if one.key not in before]
    grown = [one for one in now if one.key in before and one.size >= 2 * before[one.key].size]
    ended = [Change("ends", one) for key, one in before.items() if key not in there]
    return [*begun, *(Change("worsens", one) for one in grown), *ended]


def after(before: Mapping[Key, Problem], changes: Sequence[Change]) -> dict[Key, Problem]:
    """Problems as they were in their last change, after these."""
    changed = {change.problem.key for change in changes}
    stayed = {key: one for key, one in before.items() if key not in changed}
    return stayed | {one.problem.key: one.problem for one in changes if one.event != "ends"}


def _of_rounds(health: RoundsHealth) -> Iterator[Problem]:
    if health.failed_rounds >= FAILED_ROUNDS:
        sentence = (
            f"rounds: the last {health.failed_rounds} rounds have failed: {health.last_error}"
        )
        yield Problem(Key("rounds_failed", "", ""), health.failed_rounds, sentence)


def _of_readers(found: LakeStatus | None, health: RoundsHealth) -> Iterator[Problem]:
    behind, held = int(health.readers_behind_seconds), health.oldest_held
    if behind < READERS_BEHIND_SECONDS:
        return
    sentence = f"rounds: readers have lacked something for {duration(behind)}"
    if held is None:
        # Nothing is held, so nothing has landed since: what failed is its own problem.
        yield Problem(Key("readers_behind", "", ""), behind, sentence)
        return
    entries = found.report if found else ()
    causes = [held_sentence(one, "status") for one in entries if one["source"] == held.source]
    because = "; ".join(cause for cause in causes if cause)
    yield Problem(
        Key("readers_behind", held.source, held.reason),
        behind,
        f"{sentence}; {because}" if because else sentence,
    )


def _of_quarantine(entry: dict[str, Any]) -> Iterator[Problem]:
    messages = open_messages(entry)
    for reason, count in Counter(one["reason"] for one in messages).items():
        of_reason = [one for one in messages if one["reason"] == reason]
        sentences = quarantine_sentences({**entry, "quarantined": of_reason}, "status")
        yield Problem(Key("quarantined", entry["source"], reason), count, " ".join(sentences))


def _of_flags(entry: dict[str, Any]) -> Iterator[Problem]:
    for one in open_flags(entry):
        what = f"{one['table']}: {one['flag']}"
        sentences = flag_sentences(entry["source"], [one])
        yield Problem(Key("flagged", entry["source"], what), 1, " ".join(sentences))
