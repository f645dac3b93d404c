"""Two machines on one catalog, at once: whatever the order of their requests, tables are right.

One machine sleeps before a request to the catalog, and the other one takes the lake, lands and
publishes. Then the first one wakes: every other time when the other has ended, else in the middle
of its run.
"""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from figures import record

pytest.importorskip("moto", reason="`make setup-cluster` installs what the cluster needs")

from breakpoints import Breakpoint, Moment, breakpoint_before
from chain import cluster
from machine import Commands, Machine, commands, wait_until
from watching import Watcher, alone

from dbt_debezium.cli.repeat import LONG_LIVED

SHARDS = 10
FORCED = 10
"""Orders in each shard."""
SEED = 41
REFUSALS = (
    "another run holds its lease",
    "this run has lost its lease",
    "another run has written",
    "of another run came before",
    "its lease was written meanwhile",
)


@dataclass(slots=True)
class Side:
    """One of the two machines."""

    commands: Commands
    stop: Breakpoint

    def run_until(self, moment: Moment, *command: object) -> bool:
        """Start a command; whether it sleeps at the moment, and has not ended before."""
        self.stop.set(moment)
        self.commands.begin(*command)
        wait_until(lambda: self.stop.is_reached or self.commands.has_ended)
        return self.stop.is_reached

    def wake(self) -> tuple[int, str]:
        """Let it go on; how its command ends."""
        self.stop.resume()
        return self.commands.end()


@dataclass(slots=True)
class Pair:
    """Two machines that compute by themselves, on one catalog and one store."""

    one: Side
    two: Side
    watcher: Watcher


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Of all shards, as starting them takes longer than an order does."""
    with ExitStack() as stack:
        servers = stack.enter_context(cluster())
        catalog = servers.environment["DBT_DEBEZIUM_CATALOG_URI"]
        watcher = Watcher(servers.folder)

        def side(name: str) -> Side:
            stop = stack.enter_context(breakpoint_before(catalog))
            settings = {**servers.environment, **alone(servers.folder)}
            settings["DBT_DEBEZIUM_JAVA_OPTIONS"] = LONG_LIVED
            settings["DBT_DEBEZIUM_CATALOG_URI"] = stop.address
            machine = Machine(servers.folder, settings, watcher.project, name)
            return Side(stack.enter_context(commands(machine)), stop)

        yield Pair(side("one"), side("two"), watcher)


@pytest.fixture(scope="module")
def asked(pair: Pair) -> list[Moment]:
    """What a run asks the catalog for, in a random order."""
    source = pair.watcher.begin_source()
    pair.one.commands.says("land", source.next())
    pair.one.commands.says("run", source.next())
    pair.one.stop.resume()
    pair.one.commands.says("run", source.next())
    moments = pair.one.stop.resume()
    random.Random(SEED).shuffle(moments)
    writes = sum(one.is_write for one in moments)
    print(f"{len(moments)} requests, of which {writes} write", flush=True)
    pair.watcher.look_at_all(pair.two.commands)
    return moments


def moments_of(shard: int, asked: list[Moment]) -> list[Moment]:
    """Those of a shard. All shards have those before each write of a run, and before some reads."""
    writes = [one for one in asked if one.is_write]
    reads = [one for one in asked if not one.is_write]
    # More than are needed, as not each run asks for the same.
    return writes[shard::SHARDS] + reads[shard::SHARDS][:FORCED]


@pytest.mark.proof
@pytest.mark.parametrize("shard", range(SHARDS))
def test_two_machines_at_once_lose_nothing_and_publish_nothing_wrong(
    shard: int, pair: Pair, asked: list[Moment]
) -> None:
    sleeper, other, watcher = pair.one, pair.two, pair.watcher
    moments = moments_of(shard, asked)
    chance = random.Random(f"{SEED} {shard}")
    forced = refused = 0
    source = watcher.sources[-1]
    refused_parts: list[Path] = []

    def settle() -> None:
        """Land again what was refused, and look at all of it."""
        while refused_parts:
            other.commands.says("land", refused_parts.pop())
        sleeper.commands.says("run")
        watcher.look_at_all(other.commands)

    for number, moment in enumerate(moments):
        if forced == FORCED:
            break
        if not source.has_more:
            settle()
            source = watcher.begin_source()
            sleeper.commands.says("land", source.next())
        first, second = source.next(), source.next()
        options = ["--full-refresh"] if number % 4 == 3 else []
        told = [f"{number}: {moment}", *options]
        is_asleep = sleeper.run_until(moment, "run", first, *options)
        other.commands.says("lease", "--break")
        if number % 2:
            middle = chance.choice(moments)
            if other.run_until(middle, "run", second):
                told.append(f"in the middle: {middle}")
            ends = [sleeper.wake(), other.wake()]
        else:
            said = other.commands.says("run", second)
            ends = [sleeper.wake(), (0, said)]
        for part, (code, said) in zip((first, second), ends, strict=True):
            told.append(f"{code} {said.strip().splitlines()[-1][:150]}")
            if code:
                refused_parts.append(part)
        print(" | ".join(told), flush=True)
        for code, said in ends:
            assert code == 0 or any(one in said for one in REFUSALS), said
            assert "Traceback" not in said
        forced += is_asleep
        refused += any(code for code, _ in ends)
        watcher.look(other.commands)
    settle()
    assert forced == FORCED
    record(
        "Two machines at once, one of which sleeps before a request to the catalog and wakes once "
        "the other has taken the lake, lose nothing and publish nothing wrong "
        f"(part {shard + 1} of {SHARDS})",
        f"{forced} orders of requests, in {refused} of which one was refused: 0 lost, 0 wrong",
        seed=SEED,
    )
