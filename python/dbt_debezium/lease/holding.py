"""The lease on a lake, held by one run of all machines that share its catalog.

A run takes the row of `landing.lease` before it writes, renews it while it works, and empties it at
its end. Another machine takes over ten minutes after it has expired. Every clock is compared with
itself or with that margin (docs/decisions/0018).
"""

import contextlib
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dbt_debezium.errors import DebeziumError, innermost, is_of_spark
from dbt_debezium.home import lake_dir
from dbt_debezium.lake_format import FORMAT, NewerLakeError
from dbt_debezium.lease import local
from dbt_debezium.lease.java_process import jvm_lease
from dbt_debezium.lease.remote_session import end_earlier_session
from dbt_debezium.lease.row import (
    FREE,
    TABLE,
    LeaseRow,
    Seen,
    create_table,
    read_row,
    record_format,
    replace_row,
)
from dbt_debezium.lease.sentences import free_at, held_sentence, lost_sentence
from dbt_debezium.spark.outages import outage_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALID: Final = timedelta(minutes=10)
"""From one renewal of a lease until it expires."""
BEAT_SECONDS: Final = 60.0
SNAPSHOT_PROPERTY: Final = "spark.sql.iceberg.snapshot-property."
TOKEN: Final = f"{SNAPSHOT_PROPERTY}dbt-debezium.lease"
"""Iceberg notes it in each snapshot that the session commits, and `lease_token` reads it."""

_leases: dict[Path, "HeldLease"] = {}


class LostLeaseError(DebeziumError):
    """The lease was taken from this run. What it still writes is not published."""


class HeldLease:
    """A lease that this process holds.

    Args:
        spark: a session on the lake.
        row: what stands in the catalog.
        begun_at: when the row was written, at the earliest, and the monotonic clock then.
    """

    def __init__(
        self, spark: "SparkSession", row: LeaseRow, begun_at: datetime, begun_tick: float
    ) -> None:
        self._spark = spark
        self._row = row
        self._renewed_at = begun_at
        self._renewed_tick = begun_tick
        self._lost: str | None = None
        self._guard = threading.RLock()

    @property
    def token(self) -> str:
        """Names this run."""
        return str(self._row.token)

    def new_landing_id(self, newest: int = 0) -> int:
        """A number that no landing had, on any machine.

        Args:
            newest: the largest that tables show.

        Raises:
            LostLeaseError: the lease is gone.
        """
        with self._guard:
            self._renew(landing_id=max(self._row.landing_id, newest) + 1)
            return self._row.landing_id

    @property
    def knows_landing_ids(self) -> bool:
        """Whether a landing has got a number from the lease before."""
        return self._row.landing_id > 0

    def keep(self) -> None:
        """Renew the lease once half of its time is used.

        Raises:
            LostLeaseError: it is gone.
        """
        with self._guard:
            self._raise_if_lost()
            if self._age() > VALID / 2:
                self._renew()

    def check(self) -> None:
        """Before a write: that the lease cannot have been taken. It asks nobody while it is young.

        Raises:
            LostLeaseError: it is gone.
        """
        self._raise_if_lost()
        if self._age() > VALID:
            self.keep()

    def confirm(self) -> None:
        """Ask the catalog whether the lease is still held.

        Raises:
            LostLeaseError: it is not.
        """
        with self._guard:
            self._raise_if_lost()
            self._mine()

    def release(self) -> None:
        """Give it back; without effect when it is lost, or Spark has ended."""
        with self._guard, contextlib.suppress(Exception):
            seen = self._mine()
            replace_row(self._spark, seen, replace(FREE, landing_id=self._row.landing_id))

    @contextlib.contextmanager
    def beating(self) -> Iterator[None]:
        """Renew it in time while the block runs, however long its statements take."""
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(BEAT_SECONDS):
                # What fails is tried again, and `check` raises what has been lost.
                with contextlib.suppress(Exception):
                    self.keep()
                    self.confirm()

        thread = threading.Thread(target=beat, name="lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()

    def _age(self) -> timedelta:
        """How long ago it was renewed; the monotonic clock stands still while a machine sleeps."""
        ticked = timedelta(seconds=time.monotonic() - self._renewed_tick)
        return max(ticked, now() - self._renewed_at)

    def _renew(self, landing_id: int | None = None) -> None:
        begun_at, begun_tick = now(), time.monotonic()
        row = replace(
            self._row,
            heartbeat_at=begun_at,
            expires_at=begun_at + VALID,
            landing_id=self._row.landing_id if landing_id is None else landing_id,
        )
        if not replace_row(self._spark, self._mine(), row):
            self._mine()
            raise DebeziumError("lake: its lease was written meanwhile; run again")
        self._row, self._renewed_at, self._renewed_tick = row, begun_at, begun_tick

    def _mine(self) -> Seen:
        """The row as it is now, which must be this run's."""
        self._raise_if_lost()
        try:
            seen = read_row(self._spark)
        except NewerLakeError as error:
            self._lost = str(error)
            raise LostLeaseError(self._lost) from error
        row = seen.row if seen else None
        if seen is None or row is None or row.token != self.token:
            self._lost = lost_sentence(row)
            raise LostLeaseError(self._lost)
        return seen

    def _raise_if_lost(self) -> None:
        if self._lost:
            raise LostLeaseError(self._lost)


@contextlib.contextmanager
def writing(spark: "SparkSession") -> Iterator[HeldLease]:
    """Let nobody else write to the lake of this environment while the block runs.

    The lease is taken once for all blocks of a process, and stays until its `local.Lease` is
    released, which the caller holds.

    Raises:
        DebeziumError: a run on another machine holds it, or a newer version has written the lake.
        LostLeaseError: a run on another machine has taken it from this process.
    """
    lake = lake_dir().resolve()
    command = local.command_of(lake)
    with jvm_lease(getattr(spark, "_jvm", None), lake):
        end_earlier_session(spark, lake)
        lease = _kept(lake)
        if lease is None:
            lease = _leases[lake] = _taken(spark, lake, command)
            local.at_end(lake, partial(_end, lake))
        spark.conf.set(TOKEN, lease.token)
        with lease.beating():
            yield lease


def _taken(spark: "SparkSession", lake: Path, command: str) -> HeldLease:
    """The lease; it is the first that a command reads and writes in a catalog and its store."""
    try:
        return take(spark, lake, command)
    except Exception as error:
        if not is_of_spark(error):
            raise
        raise outage_of(error, spark) or DebeziumError(
            f"lake: {TABLE} cannot be read or written ({innermost(error)}); "
            "mend the catalog or the store, or their credentials, and run again"
        ) from error


def _kept(lake: Path) -> HeldLease | None:
    """The lease that this process has taken before, if nobody else has taken it since.

    Between two blocks nothing is built, so what was lost then can be taken anew.
    """
    lease = _leases.get(lake)
    if lease is None:
        return None
    try:
        lease.keep()
    except LostLeaseError:
        del _leases[lake]
        return None
    return lease


def take(spark: "SparkSession", lake: Path, command: str) -> HeldLease:
    """Take the lease of a lake whose lock file this process has locked.

    Raises:
        DebeziumError: a run on another machine holds it, or a newer version has written the lake.
    """
    if read_row(spark) is None:
        create_table(spark)
    seen = read_row(spark)
    if seen is None:
        raise DebeziumError("lake: landing.lease is gone again; run again")
    machine, begun_at, begun_tick = local.machine_of(lake), now(), time.monotonic()
    before = seen.row or FREE
    if before.token and before.machine != machine and begun_at < free_at(before):
        raise DebeziumError(held_sentence(before, begun_at))
    row = LeaseRow(
        uuid.uuid4().hex,
        machine,
        f"{socket.gethostname()}, pid {os.getpid()}",
        command,
        begun_at,
        begun_at,
        begun_at + VALID,
        before.landing_id,
    )
    if not replace_row(spark, seen, row):
        other = read_row(spark)
        raise DebeziumError(held_sentence(other.row if other and other.row else before, begun_at))
    held = HeldLease(spark, row, begun_at, begun_tick)
    if seen.lake_format < FORMAT:
        try:
            record_format(spark)
        except BaseException:
            # Else other machines would wait for a command that has ended.
            held.release()
            raise
    return held


def now() -> datetime:
    """By the clock of this machine, UTC."""
    return datetime.now(UTC)


def _end(lake: Path) -> None:
    if lease := _leases.pop(lake, None):
        lease.release()
