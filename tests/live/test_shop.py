"""The shop of the live tests keeps its rules, and the log of its commits is what it holds."""

import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pg8000", reason="`make setup-live` installs what the local chain needs")

from pg8000.native import Connection

from live_shop.commit_log import CommitLog, differences
from live_shop.opening import stocked_shop
from live_shop.trading import (
    CUSTOMERS,
    Shop,
    archive_payments,
    in_transaction,
    place_order,
)
from local_chain.postgresql import Postgresql, postgresql

BROKEN_RULES = """
select 'total', count(*) from orders
where total <> (select coalesce(sum(qty * unit_price), 0) from order_items where order_id = id)
union all
select 'stock', count(*) from products
where made <> stock + (select coalesce(sum(qty), 0) from order_items i where i.sku = products.sku)
union all
select 'balance', count(*) from customers where balance <>
    (select coalesce(sum(amount), 0) from payments p join orders o on o.id = p.order_id
     where o.customer_id = customers.id)
    - (select coalesce(sum(total), 0) from orders where customer_id = customers.id)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Postgresql]:
    # Not pytest's folder, which is closed to the user that PostgreSQL runs as where this is root.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        with postgresql(Path(folder) / "postgresql") as server:
            yield server


def test_the_log_is_what_the_tables_hold_in_the_order_of_commits(server: Postgresql) -> None:
    shop, log = stocked_shop(server.port, 8, 0.1)
    with shop.connection() as owner:
        shop.open()
        time.sleep(1.5)
        emptied = in_transaction(owner, archive_payments, random.Random(0))
        time.sleep(0.5)
        shop.close()
        assert all(count == 0 for _, count in owner.run(BROKEN_RULES))
    newest = log.newest()
    assert newest
    assert differences(log.rows_now(), log.rows_at(newest)) == {}
    assert log.rows_at(emptied)["payments"].total() == 0
    numbers = [log.position(one).shown for one in (emptied, newest)]
    assert 1 < numbers[0] <= numbers[1] == log.position(None).committed


def test_a_transaction_that_began_before_another_one_may_commit_after_it(
    server: Postgresql,
) -> None:
    """Ids are given at the first change, so they are in another order than commits."""
    shop, log = Shop(server.port, 0, 1), CommitLog(server.port)
    with shop.connection() as first, shop.connection() as second:
        first.run("begin")
        place_order(first, random.Random(0))
        older = str(first.run("select pg_current_xact_id()::text")[0][0])
        newer = in_transaction(second, new_customer, random.Random(0))
        first.run("commit")
    assert int(older) < int(newer)
    at = log.rows_at_each([older, newer])
    assert at[newer]["orders"].total() == at[older]["orders"].total() - 1
    assert at[newer]["customers"].total() == CUSTOMERS + 1


def new_customer(db: Connection, _: random.Random) -> None:
    db.run("insert into customers (id, email) values (999, 'new@example.org')")
