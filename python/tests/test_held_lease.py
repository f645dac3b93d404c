"""One run at a time on all machines of a catalog, whatever their clocks say. No Spark."""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.lake_format import FORMAT
from dbt_debezium.lease import HeldLease, Lease, LostLeaseError, breaking, holding, writing
from dbt_debezium.lease.row import LeaseRow, Seen

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
MOST_DIFFERENT = 5
"""Minutes by which a clock is wrong, either way, so that two differ by the margin at most."""


class Catalog:
    """The table, as Iceberg keeps it: each row replaces the one that its writer has seen."""

    def __init__(self) -> None:
        self.rows: list[LeaseRow | None] = [None]

    def read_row(self, _: Any) -> Seen:
        return Seen(self.rows[-1], len(self.rows), FORMAT)

    def replace_row(self, _: Any, seen: Seen, row: LeaseRow) -> bool:
        if seen.table != len(self.rows):
            return False
        self.rows.append(row)
        return True


class Clock:
    """One true time, and how far the clock of the machine that acts is off."""

    def __init__(self) -> None:
        self.now = NOON
        self.off = timedelta()

    def __call__(self) -> datetime:
        return self.now + self.off


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> Catalog:
    made = Catalog()
    for module in (holding, breaking):
        monkeypatch.setattr(module, "read_row", made.read_row)
        monkeypatch.setattr(module, "replace_row", made.replace_row)
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    made = Clock()
    monkeypatch.setattr(holding, "now", made)
    yield made
    holding._leases.clear()


class Machine:
    """A machine that holds the lease, or tries to."""

    def __init__(self, folder: Path, off: timedelta = timedelta()) -> None:
        self.folder = folder
        self.off = off
        self.spark: Any = SimpleNamespace(_jvm=None, conf=SimpleNamespace(set=lambda *_: None))
        self.ends = ExitStack()

    def begin(self, clock: Clock, patch: pytest.MonkeyPatch) -> HeldLease:
        clock.off = self.off
        patch.setenv("DBT_DEBEZIUM_LAKE", str(self.folder))
        self.ends.enter_context(Lease(self.folder, f"run on {self.folder.name}"))
        try:
            return self.ends.enter_context(writing(self.spark))
        except DebeziumError:
            self.ends.close()
            raise

    def crash(self) -> None:
        """End without giving the lease back; the kernel gives back the lock."""
        holding._leases.pop(self.folder.resolve(), None)
        self.ends.close()


def test_a_second_machine_is_refused_until_the_first_one_is_done(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Machine(tmp_path / "one"), Machine(tmp_path / "two")
    one.begin(clock, monkeypatch)
    clock.now += 3 * MINUTE
    with pytest.raises(DebeziumError) as refused:
        two.begin(clock, monkeypatch)
    sentence = str(refused.value)
    assert sentence.startswith("lake: another run holds its lease (")
    assert "run on one, since 2026-11-27T12:00:00Z, last heard of 3 min ago); wait" in sentence
    assert "until 2026-11-27T12:20:00Z, or run `dbt-debezium lease --break`" in sentence
    one.ends.close()
    two.begin(clock, monkeypatch)
    two.ends.close()
    assert len(catalog.rows) == 1 + 2 * 2, "one commit to take it, one to give it back"


def test_a_killed_run_is_followed_at_once_on_its_own_machine_and_later_on_others(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Machine(tmp_path / "one"), Machine(tmp_path / "two")
    for _ in range(2):
        one.begin(clock, monkeypatch)
        one.crash()
    clock.now += 19 * MINUTE
    with pytest.raises(DebeziumError):
        two.begin(clock, monkeypatch)
    clock.now += MINUTE
    two.begin(clock, monkeypatch)
    two.ends.close()


def test_a_lease_is_renewed_when_half_of_its_time_is_used(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = Machine(tmp_path / "one").begin(clock, monkeypatch)
    for _ in range(60):
        clock.now += MINUTE
        lease.keep()
        lease.check()
    assert len(catalog.rows) == 2 + 60 // 6


def test_a_lease_is_renewed_while_a_statement_takes_long(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "BEAT_SECONDS", 0.01)
    one = Machine(tmp_path / "one")
    one.begin(clock, monkeypatch)
    clock.now += 6 * MINUTE
    give_up_at = time.monotonic() + 10
    while len(catalog.rows) < 3 and time.monotonic() < give_up_at:
        time.sleep(0.01)
    assert len(catalog.rows) == 3
    one.ends.close()


def test_a_lease_ages_by_the_monotonic_clock_where_the_other_one_was_set_back(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Machine(tmp_path / "one")
    lease = one.begin(clock, monkeypatch)
    later = time.monotonic() + 6 * 60
    with monkeypatch.context() as patched:
        patched.setattr(holding.time, "monotonic", lambda: later)
        lease.keep()
    assert len(catalog.rows) == 3
    one.ends.close()


@pytest.mark.parametrize("slow_commit", [2, 3])
def test_the_age_of_a_lease_includes_the_commit_that_took_or_renewed_it(
    catalog: Catalog,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    slow_commit: int,
) -> None:
    plain = catalog.replace_row

    def replace_row(spark: Any, seen: Seen, row: LeaseRow) -> bool:
        if len(catalog.rows) == slow_commit - 1:
            clock.now += 6 * MINUTE
        return plain(spark, seen, row)

    monkeypatch.setattr(holding, "replace_row", replace_row)
    one = Machine(tmp_path / "one")
    lease = one.begin(clock, monkeypatch)
    if slow_commit == 3:
        clock.now += 6 * MINUTE
        lease.keep()
    lease.keep()
    assert len(catalog.rows) == slow_commit + 1
    one.ends.close()


def test_numbers_of_landings_are_given_out_once(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Machine(tmp_path / "one"), Machine(tmp_path / "two")
    first = one.begin(clock, monkeypatch)
    assert [first.knows_landing_ids, first.new_landing_id(7), first.new_landing_id()] == [
        False,
        8,
        9,
    ]
    one.crash()
    clock.now += 21 * MINUTE
    assert two.begin(clock, monkeypatch).new_landing_id() == 10
    with pytest.raises(LostLeaseError, match="run on two took at 2026-11-27T12:21:00Z"):
        first.new_landing_id()
    two.ends.close()


def test_a_process_that_has_slept_asks_before_it_writes(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Machine(tmp_path / "one"), Machine(tmp_path / "two")
    lease = one.begin(clock, monkeypatch)
    clock.now += 30 * MINUTE
    two.begin(clock, monkeypatch)
    with pytest.raises(LostLeaseError):
        lease.check()
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(one.folder))
    with pytest.raises(DebeziumError, match="another run holds its lease"), writing(one.spark):
        pass
    two.ends.close()
    with writing(one.spark) as again:
        again.confirm()


def test_a_lease_that_is_broken_is_lost(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Machine(tmp_path / "one"), Machine(tmp_path / "two")
    lease = one.begin(clock, monkeypatch)
    assert breaking.break_lease(one.spark) == catalog.rows[1]
    assert breaking.break_lease(one.spark) is None
    two.begin(clock, monkeypatch)
    with pytest.raises(LostLeaseError):
        lease.confirm()
    one.ends.close()
    assert catalog.rows[-1] is not None
    assert "run on two" in str(catalog.rows[-1]), "who has lost it gives nothing back"
    two.ends.close()


@pytest.mark.parametrize("seed", range(40))
def test_machines_whose_clocks_differ_by_minutes_never_work_together(
    catalog: Catalog, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Each keeps its lease while it lives, and one that died does not keep the others out."""
    chance = random.Random(seed)
    machines = [
        Machine(tmp_path / str(at), chance.uniform(-MOST_DIFFERENT, MOST_DIFFERENT) * MINUTE)
        for at in range(3)
    ]
    working: dict[Machine, HeldLease] = {}
    begun, died_at = 0, NOON - 60 * MINUTE
    for _ in range(300):
        clock.now += chance.uniform(0, 2) * MINUTE
        for machine, lease in working.items():
            clock.off = machine.off
            lease.keep()
        machine = chance.choice(machines)
        if machine in working:
            if chance.random() < 0.3:
                del working[machine]
                clock.off = machine.off
                if chance.random() < 0.3:
                    machine.crash()
                    died_at = clock.now
                else:
                    machine.ends.close()
            continue
        try:
            working[machine] = machine.begin(clock, monkeypatch)
            begun += 1
        except DebeziumError:
            assert working or clock.now < died_at + (20 + 2 * MOST_DIFFERENT) * MINUTE
        assert len(working) <= 1
    for machine in working:
        machine.ends.close()
    assert begun > 10
