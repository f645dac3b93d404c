"""What happens in the shop besides its trade, one thing after the other."""

import random
import threading
import time
from datetime import UTC, datetime
from typing import Final

from pg8000.native import Connection

from dbt_debezium.rounds.loop import Told
from live_shop.following import CONNECTOR, wait_for_messages
from live_shop.screen import Screen
from live_shop.trading import Shop, archive_payments, change_key, deliver_slowly, in_transaction
from local_chain import Chain

STORY_SECONDS: Final = 60
DELIVERED: Final = 3000
DELIVERY_SECONDS: Final = 8
KILLED_AFTER: Final = 20
"""Messages of the delivery that have reached Kafka."""
LONGEST_OUTAGE: Final = 300


class Story(threading.Thread):
    """Disturbs a shop that is open, and closes it after a minute."""

    def __init__(self, chain: Chain, shop: Shop, screen: Screen) -> None:
        super().__init__(daemon=True)
        self._chain, self._shop, self._screen = chain, shop, screen
        self._last_round_began_at = datetime.min.replace(tzinfo=UTC)
        self._hurry = threading.Event()
        self._began_at = 0.0
        self.is_over = threading.Event()
        self.error: BaseException | None = None

    def hurry(self) -> None:
        """Leave out what has not happened yet, and close."""
        self._hurry.set()

    def is_hurried(self) -> bool:
        """Whether somebody wants it to end."""
        return self._hurry.is_set()

    def round_done(self, told: Told) -> None:
        """Note that a round has been done."""
        self._last_round_began_at = told.began_at

    def has_begun(self) -> bool:
        """Whether it was started."""
        return self.ident is not None

    def run(self) -> None:
        """The whole story."""
        self._began_at = time.monotonic()
        try:
            with self._shop.connection() as owner:
                try:
                    self._tell(owner)
                finally:
                    self._shop.close()
        except BaseException as error:
            self.error = error
        finally:
            self.is_over.set()

    def _tell(self, owner: Connection) -> None:
        event = self._screen.event
        if self._is_at(4):
            in_transaction(owner, deliver_by_mistake, random.Random(0), commits=False)
            event("database", "a transaction inserts 200 products and rolls back")
        if self._is_at(8):
            moved = in_transaction(owner, change_key, random.Random(0))
            event("database", f"a customer and its orders get another key (transaction {moved})")
        if self._is_at(10):
            # Early, so that payments has rows of its own again when the tables are compared.
            emptied = in_transaction(owner, archive_payments, random.Random(0))
            event("database", f"TRUNCATE payments, and balances that fit (transaction {emptied})")
        if self._is_at(12):
            event("database", f"a transaction begins to insert {DELIVERED:,} products, slowly")
            delivery = deliver_slowly(owner, DELIVERED, DELIVERY_SECONDS)
            owner.run("commit")
            self._kill_connect(delivery)
        self._is_at(STORY_SECONDS)
        event("database", "the shop closes")

    def _kill_connect(self, delivery: str) -> None:
        """Kill it while it sends a transaction, and start it when a round has seen that."""
        committed_at = time.monotonic()
        sent = wait_for_messages(
            self._chain.bootstrap,
            "products",
            KILLED_AFTER,
            lambda: time.monotonic() - committed_at < LONGEST_OUTAGE,
        )
        self._chain.connect.kill()
        self._screen.event("database", f"it commits: transaction {delivery}")
        self._screen.event(
            "connect",
            f"killed while it sends transaction {delivery}: {sent:,} changes are in Kafka",
        )
        # The round that is running may have landed already; the next one lands what is there.
        killed_at = datetime.now(UTC)
        while self._last_round_began_at < killed_at and not self._hurry.wait(0.2):
            if time.monotonic() - committed_at > LONGEST_OUTAGE:
                break
        self._screen.event("connect", "starts again, and sends the transaction from its beginning")
        self._chain.connect.start_again(CONNECTOR)

    def _is_at(self, seconds: float) -> bool:
        """Wait until so many seconds have passed; false if there is a hurry."""
        rest = self._began_at + seconds - time.monotonic()
        return not self._hurry.wait(max(0.0, rest))


def deliver_by_mistake(db: Connection, _: random.Random) -> None:
    """Products that are taken back."""
    db.run(
        "insert into products select 'X' || n, 'Mistake ' || n, 1, 1, 1, null"
        " from generate_series(1, 200) n"
    )
