"""A shop trades on PostgreSQL while `run --every` follows: each published cut is the database."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from figures import record
from kafka import KafkaConsumer
from lake import REPOSITORY

pytest.importorskip("pg8000", reason="`make setup-live` installs what the local chain needs")

from dbt_debezium.build import environment
from dbt_debezium.home import jars_dir
from dbt_debezium.preview import write_project
from dbt_debezium.rounds.loop import Told
from dbt_debezium.rounds.round import Round
from dbt_debezium.scaffold.landed_tables import landed_tables
from dbt_debezium.scaffold.project_models import plan_scaffold
from live_shop.commit_log import KEYS, CommitLog, Rows, differences
from live_shop.following import (
    CONNECTOR,
    SETTINGS,
    follow,
    rounds_on,
    sent_count,
    wait_for_messages,
)
from live_shop.lake_rows import SOURCE, read_tables
from live_shop.opening import stocked_shop
from live_shop.trading import (
    Shop,
    archive_payments,
    deliver_slowly,
    in_transaction,
)
from local_chain import Chain, local_chain
from local_chain.server import wait_until

SESSIONS = 8
PAUSE_SECONDS = 2.0
EVERY_SECONDS = 5
CUTS = {"json": 3, "avro": 5, "exactly_once": 5}
"""How many are published at least."""
DELIVERED = 2000
CUT_OFF_AFTER = 200
"""So many of them are sent when Connect is killed: some batches, as exactly-once takes one back."""
SENT_SECONDS = 2.0
"""What was committed so long ago is in Kafka, as a rule. If not, there is one more round."""
PATIENCE_SECONDS = 1800
"""A round takes minutes where ten other things run."""
TYPED = {f"{part}.converter.schemas.enable": "true" for part in ("key", "value")}
"""With schema blocks, so that models have the types of the database, as they have from Avro."""
PRECISE = {"decimal.handling.mode": "precise"}


class Follower:
    """Reads all tables after each round, until it is told to stop or the shop is closed and read.

    `run_rounds` stops when `is_asked_for`.
    """

    def __init__(self, rounds: Round, log: CommitLog) -> None:
        self._rounds, self._log = rounds, log
        self._began = time.monotonic()
        self.seen: dict[str, Rows] = {}
        """The tables by the newest transaction in them."""
        self.held: set[str] = set()
        """Transactions that a round held."""
        self.landed_from = 0.0
        """When the latest landing began that is done: what was sent before then has landed."""
        self._landing_from = 0.0
        self.is_closing = threading.Event()
        self.is_closed = threading.Event()
        """Whether the shop is."""
        self.is_asked_for = False
        rounds.tell, rounds.say = self._begin, self._say

    def _begin(self, step: str) -> None:
        if step.endswith("for its topics"):
            self._landing_from = time.monotonic()

    def _say(self, line: str) -> None:
        if ": landed " in line:
            self.landed_from = self._landing_from

    def tell(self, told: Told) -> None:
        # Where nothing is new, no landing says that it is done.
        self.landed_from = max(self.landed_from, time.monotonic() - told.seconds)
        assert not told.error, told.error
        assert told.outcome
        for entry in told.outcome.report:
            self.held |= {one["transaction_id"] for one in entry["held"]}
        seen = read_tables(self._rounds.start_spark(), self._log.columns)
        if seen.transaction_id:
            self.seen[seen.transaction_id] = seen.rows
        is_drained = seen.transaction_id == self._log.newest()
        assert time.monotonic() - self._began < PATIENCE_SECONDS, "it does not catch up"
        self.is_asked_for |= self.is_closed.is_set() and is_drained

    def wait(self, seconds: float) -> None:
        """Pause; while the shop closes there is no round, and the next one is the last."""
        time.sleep(seconds)
        if self.is_closing.is_set():
            self.is_closed.wait(PATIENCE_SECONDS)


class Trade(threading.Thread):
    """Trades until enough cuts are published, and kills Connect in the middle of a transaction."""

    def __init__(self, chain: Chain, shop: Shop, follower: Follower, cuts: int) -> None:
        super().__init__(daemon=True)
        self._chain, self._shop, self._follower, self._cuts = chain, shop, follower, cuts
        self.cut_off: str | None = None
        """The transaction that Connect was sending."""
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with self._shop.connection() as owner:
                self._wait_for_cuts(1)
                self.cut_off = deliver_slowly(owner, DELIVERED, 2)
                owner.run("commit")
                self._restart_connect()
                in_transaction(owner, archive_payments, random.Random(0))
                self._wait_for_cuts(self._cuts - 1)  # and one when the shop is closed
                self._follower.is_closing.set()
                self._shop.close()
                time.sleep(SENT_SECONDS)
        except BaseException as error:
            self.error = error
            self._follower.is_asked_for = True
        finally:
            self._follower.is_closed.set()

    def _restart_connect(self) -> None:
        """Kill it, and start it when a round has landed what it had sent, and builds."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        sent = wait_for_messages(
            self._chain.bootstrap, "products", CUT_OFF_AFTER, lambda: time.monotonic() < give_up_at
        )
        self._chain.connect.kill()
        assert sent < DELIVERED
        killed_at = time.monotonic()
        while self._follower.landed_from < killed_at and not self._follower.is_asked_for:
            time.sleep(0.1)
        self._chain.connect.start_again(CONNECTOR)

    def _wait_for_cuts(self, count: int) -> None:
        while len(self._follower.seen) < count and not self._follower.is_asked_for:
            time.sleep(0.1)


@contextmanager
def shop_of(chain: Chain) -> Iterator[tuple[Shop, CommitLog]]:
    """The shop, with its first rows, and the log of its commits."""
    shop, log = stocked_shop(chain.postgresql.port, SESSIONS, PAUSE_SECONDS)
    try:
        yield shop, log
    finally:
        log.close()


@pytest.mark.parametrize(
    "kind",
    [
        "json",
        pytest.param("avro", marks=pytest.mark.proof),
        pytest.param("exactly_once", marks=pytest.mark.proof),
    ],
)
def test_each_published_cut_is_what_the_database_held_at_that_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    project = tmp_path / "project"
    settings = {
        "DBT_DEBEZIUM_LAKE": str(tmp_path / "lake"),
        "DBT_DEBEZIUM_JARS": str(jars_dir().absolute()),
    }
    with (
        environment(**settings),
        local_chain(
            "postgresql", exactly_once=kind == "exactly_once", has_registry=kind == "avro"
        ) as chain,
        shop_of(chain) as (shop, log),
    ):
        converter = chain.registry.converter() if chain.registry else TYPED
        connector = chain.postgresql.connector("shop") | SETTINGS | PRECISE | converter
        chain.connect.create(CONNECTOR, connector)
        wait_for_rows(chain.bootstrap)
        write_project(REPOSITORY, project, [], {})
        monkeypatch.chdir(project)
        registry = chain.registry.confluent if chain.registry else None
        rounds = rounds_on(chain.bootstrap, registry)
        spark = rounds.start_spark()
        rounds.source.land(spark, rounds.tell)
        plan_scaffold(project, landed_tables(spark), []).write(project)
        follower = Follower(rounds, log)
        trade = Trade(chain, shop, follower, CUTS[kind])
        shop.open()
        trade.start()
        try:
            follow(rounds, EVERY_SECONDS, follower, follower.tell)
        finally:
            follower.is_asked_for = True
            trade.join()
            rounds.start_spark().stop()
        assert trade.error is None, trade.error
        assert trade.cut_off in follower.held
        assert len(follower.seen) >= CUTS[kind]
        for transaction_id, held in log.rows_at_each(list(follower.seen)).items():
            assert differences(held, follower.seen[transaction_id]) == {}, transaction_id
        assert differences(log.rows_now(), read_last(follower, log)) == {}
        if kind != "json":
            record(
                f"Each cut that is published from Kafka is what PostgreSQL held ({kind})",
                f"{len(follower.seen)} cuts on the way, {log.position(log.newest()).committed:,} "
                "transactions of 8 sessions, Connect killed once: 0 wrong",
            )


def wait_for_rows(bootstrap: str) -> None:
    """Wait until the snapshot has sent a row of each table."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    try:
        topics = {f"{SOURCE}.public.{table}" for table in KEYS}
        wait_until(
            lambda: topics <= consumer.topics() and all(sent_count(consumer, one) for one in KEYS),
            lambda: None,
        )
    finally:
        consumer.close()


def read_last(follower: Follower, log: CommitLog) -> Rows:
    """The tables at the last commit of the database."""
    newest = log.newest()
    assert newest
    return follower.seen[newest]
