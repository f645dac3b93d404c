"""How long it takes from a commit in PostgreSQL until readers see it, with `run --every 5s`.

    PYTHONPATH=demo python bench/latency.py [SECONDS]

The servers and the trade of `make demo-live`, without what it breaks on the way, by default for
three minutes. Transactions count that were committed after the second round had published: the
first one reads the snapshot, and Java is slow in both.
"""

import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from bench import REPOSITORY

from dbt_debezium.build import environment
from dbt_debezium.home import jars_dir
from dbt_debezium.rounds.loop import Told
from live_shop.__main__ import EVERY_SECONDS, PAUSE_SECONDS, SESSIONS
from live_shop.commit_log import CommitLog
from live_shop.following import CONNECTOR, SETTINGS, follow, rounds_on
from live_shop.lake_rows import SOURCE
from live_shop.latency import Latency
from live_shop.opening import stocked_shop
from local_chain import local_chain

if TYPE_CHECKING:
    from dbt_debezium.rounds.round import Round

NEWEST = f"select transaction_id from public.published_cut where source = '{SOURCE}'"
WARMED_UP = 2


class Follower:
    """Notes when transactions were published, until its time is over."""

    def __init__(self, rounds: "Round", log: CommitLog, seconds: float) -> None:
        self._rounds, self._log, self._seconds = rounds, log, seconds
        self._published_at = self._began_at = 0.0
        self._rounds_published = 0
        self.latency = Latency()
        self.count = 0
        self.is_asked_for = False
        rounds.say = self._say

    def _say(self, line: str) -> None:
        if line.startswith(f"{SOURCE}: "):
            self._published_at = time.time()

    def tell(self, told: Told) -> None:
        """Look at what a round has published."""
        if told.error:
            sys.exit(told.error)
        if told.outcome is None or told.outcome.kind != "published":
            return
        self._rounds_published += 1
        if self._rounds_published <= WARMED_UP:
            self._began_at = time.time()
            return
        ((newest,),) = self._rounds.start_spark().sql(NEWEST).collect()
        committed = self._log.committed_at(newest)
        counted = {one: at for one, at in committed.items() if at > self._began_at}
        self.latency.published(self._published_at, counted)
        self.count = len(counted)
        print(f"round of {told.seconds:.1f} s: {self.latency}", flush=True)
        self.is_asked_for = time.time() - self._began_at > self._seconds

    def wait(self, seconds: float) -> None:
        """Until the next round."""
        time.sleep(seconds)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 180.0
    os.chdir(REPOSITORY)
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-latency-") as folder,
        environment(
            DBT_DEBEZIUM_LAKE=f"{folder}/lake",
            DBT_DEBEZIUM_JARS=str(jars_dir().absolute()),
            DBT_TARGET_PATH=f"{folder}/target",
        ),
        local_chain("postgresql") as chain,
    ):
        shop, log = stocked_shop(chain.postgresql.port, SESSIONS, PAUSE_SECONDS)
        log.opens()
        chain.connect.create(CONNECTOR, chain.postgresql.connector(SOURCE) | SETTINGS)
        shop.open()
        rounds = rounds_on(chain.bootstrap)
        follower = Follower(rounds, log, seconds)
        try:
            follow(rounds, EVERY_SECONDS, follower, follower.tell)
        finally:
            shop.close()
            log.close()
        print(f"{follower.count} transactions of {SESSIONS} sessions: {follower.latency}")
        rounds.start_spark().stop()


if __name__ == "__main__":
    main()
