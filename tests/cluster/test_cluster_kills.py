"""Drivers and executors of a cluster are killed (SIGKILL) at any moment; the tables are right."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest
from figures import record

pytest.importorskip("moto", reason="`make setup-cluster` installs what the cluster needs")

from breakpoints import Breakpoint, Moment, breakpoint_before
from chain import Cluster, cluster
from machine import COMMAND, Commands, Machine, commands, wait_until
from watching import Source, Watcher, alone

KILLS = 20
SEED = 41


@dataclass(slots=True)
class Site:
    """A cluster, a machine that uses it with a breakpoint, and a reader without one."""

    servers: Cluster
    watcher: Watcher
    machine: Machine
    stop: Breakpoint
    reader: Commands

    def next_part(self) -> Path:
        """Of the newest source, or of a new one whose snapshot has landed."""
        source = self.watcher.sources[-1] if self.watcher.sources else None
        if source is None or not source.has_more:
            source = self._land_snapshot()
        return source.next()

    def _land_snapshot(self) -> Source:
        source = self.watcher.begin_source()
        self.reader.says("land", source.next())
        return source


@pytest.fixture
def site() -> Iterator[Site]:
    with ExitStack() as stack:
        servers = stack.enter_context(cluster())
        catalog = servers.environment["DBT_DEBEZIUM_CATALOG_URI"]
        stop = stack.enter_context(breakpoint_before(catalog))
        watcher = Watcher(servers.folder)
        stopped = {"DBT_DEBEZIUM_CATALOG_URI": stop.address}
        machine, reader = (
            Machine(servers.folder, {**servers.environment, **settings}, watcher.project, name)
            for name, settings in (("driver", stopped), ("reader", alone(servers.folder)))
        )
        yield Site(servers, watcher, machine, stop, stack.enter_context(commands(reader)))


def spread(asked: list[Moment]) -> list[Moment]:
    """One moment of each twentieth of a run; every other one is before a write."""
    chance = random.Random(SEED)
    chosen = []
    for number in range(KILLS):
        part = asked[len(asked) * number // KILLS : len(asked) * (number + 1) // KILLS]
        writes = [one for one in part if one.is_write] if number % 2 else []
        chosen.append(chance.choice(writes or part))
    return chosen


@pytest.mark.proof
def test_a_driver_that_is_killed_shows_nothing_and_the_next_run_is_right(site: Site) -> None:
    site.machine.says(COMMAND, "run", site.next_part())
    site.stop.resume()
    site.machine.says(COMMAND, "run", site.next_part())
    moments = spread(site.stop.resume())
    site.watcher.look_at_all(site.reader)
    killed = late = 0
    # Not each run asks as often as the one before.
    for moment in cycle(moments):
        if killed == KILLS:
            break
        part = site.next_part()
        site.stop.set(moment)
        with (
            (site.servers.folder / "driver.log").open("w") as log,
            site.machine.start("setsid", COMMAND, "run", part, output=log) as driver,
        ):
            wait_until(lambda: site.stop.is_reached or driver.poll() is not None)
            if not site.stop.is_reached:
                assert driver.wait() == 0, (site.servers.folder / "driver.log").read_text()
                site.watcher.look_at_all(site.reader)
                continue
            os.killpg(driver.pid, signal.SIGKILL)
        # Half of the times, what it had asked for still comes.
        is_late = killed % 4 > 1
        site.stop.resume(lets_through=is_late)
        killed += 1
        late += is_late
        print(f"{killed}: killed before {moment}{', which comes late' * is_late}", flush=True)
        site.watcher.look(site.reader)
        site.machine.says(COMMAND, "run", part)
        site.watcher.look_at_all(site.reader)
    record(
        "A driver of a cluster that is killed (SIGKILL) before a request to the catalog shows "
        "nothing of what it did, and the next run is right",
        f"{killed} kills, after {late} of which the request came: 0 half published, 0 wrong",
        seed=SEED,
    )


@pytest.mark.proof
def test_a_run_whose_executors_are_killed_ends_well(site: Site) -> None:
    chance = random.Random(SEED)
    with commands(site.machine) as driver:
        driver.says("run", site.next_part())
        site.stop.resume()
        driver.says("run", site.next_part())
        moments = spread(site.stop.resume())
        killed = moment_count = 0
        for number, moment in enumerate(cycle(moments)):
            if moment_count == KILLS:
                break
            site.stop.set(moment)
            driver.begin("run", site.next_part())
            wait_until(lambda: site.stop.is_reached or driver.has_ended)
            if number % 2:
                site.stop.resume()
                time.sleep(chance.uniform(0, 1))
            executors = children(site.servers.worker)
            if not driver.has_ended:
                for process in executors:
                    os.kill(process, signal.SIGKILL)
                killed += len(executors)
                moment_count += bool(executors)
            site.stop.resume()
            code, said = driver.end()
            print(f"{number}: {len(executors)} killed at {moment}; {code}", flush=True)
            assert code == 0, said
            site.watcher.look_at_all(site.reader)
    record(
        "A run whose executors are killed (SIGKILL) ends, and is right",
        f"{killed} executors at {KILLS} moments: 0 runs failed, 0 wrong",
        seed=SEED,
    )


def children(process: int) -> list[int]:
    """The processes that one has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = path.read_text().rpartition(") ")[2].split()[1]
        except FileNotFoundError:
            # It has ended meanwhile.
            continue
        if int(parent) == process:
            found.append(int(path.parent.name))
    return found
