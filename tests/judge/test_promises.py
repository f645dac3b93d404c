"""The same log gives the same chain, however it lands (P4); it never goes back (P5). No Spark."""

from collections.abc import Sequence
from random import Random

from histories.history import History, make_history
from histories.knobs import PROFILES
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from landed import Landed
from replay import commits, landings, marks_of

from dbt_debezium.judge import ChainEnd, judge

PROFILES_JUDGED = ("first_rules", "all_rules", "sqlserver", "db2", "mysql")
PARTS = 5


def landed_at_last(history: History) -> list[Landed]:
    *_, last = landings(history)
    return last


def chain(history: History, parts: Sequence[Sequence[Landed]]) -> list[tuple[str, str | None]]:
    """Position and id of each commit, in the order of publishing."""
    return [
        (one.position, one.transaction_id) for new in commits(history.plan, parts) for one in new
    ]


def shuffled_parts(rng: Random, landed: Sequence[Landed]) -> list[list[Landed]]:
    """Growing parts: each message lands in any of them, in any order and once or twice.

    The first part has the first message of each partition, because nothing shows that a partition
    exists of which nothing has landed.
    """
    first = {one[:3]: rng.randrange(PARTS) if one.offset else 0 for one in landed}
    parts = []
    for part in range(PARTS):
        some = [one for one in landed if first[one[:3]] <= part]
        some += [one for one in some if rng.random() < 0.1]
        rng.shuffle(some)
        parts.append(some)
    return parts


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.sampled_from(PROFILES_JUDGED), st.integers(0, 10**6), st.integers(0, 10**6))
def test_any_landing_ends_in_the_same_chain(profile: str, number: int, seed: int) -> None:
    history = make_history(3, number, PROFILES[profile])
    landed = landed_at_last(history)
    # Until an END counts it, nothing shows that a table exists of which nothing has landed.
    facts, links = marks_of(history.plan, landed)
    assume(not facts.unlanded_tables)
    at_once = chain(history, [landed])
    in_parts = chain(history, shuffled_parts(Random(seed), landed))
    assert len(in_parts) == len({*in_parts})
    assert [position for position, _ in in_parts] == sorted(position for position, _ in in_parts)
    if in_parts[-1:] != at_once[-1:]:
        # A transaction can be published before a second BEGIN or an unreadable message lands that
        # would have asked for more evidence. It stays published.
        verdicts = judge(facts, links, ChainEnd())
        first_hold = next(one for one in verdicts if one.outcome == "hold")
        assert first_hold.reason in ("unproven_restart", "snapshot_unconfirmed")
        assert in_parts[-1:] > at_once[-1:]
