"""Sessions that trade in the shop, each transaction of theirs by the shop's three rules."""

import random
import threading
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final

from pg8000.native import Connection, DatabaseError

HOST: Final = "127.0.0.1"
CUSTOMERS, PRODUCTS, FIRST_ORDERS, FIRST_PAYMENTS = 40, 60, 30, 10
ROLLED_BACK: Final = 0.08
"""The share of transactions that end in a rollback."""
RETRIED: Final = frozenset({"40P01", "40001", "23503"})
"""A deadlock, a serialization failure, or a row that another session has removed meanwhile."""

ANY_ORDER = "select id, customer_id from orders order by random() limit 1"
LOCK_CUSTOMER = "select id from customers where id = :id for no key update"

Transaction = Callable[[Connection, random.Random], None]


def fill(connection: Connection) -> None:
    """Make the tables, and the rows that the snapshot will read."""
    connection.run(files("live_shop").joinpath("schema.sql").read_text())


def stock_up(connection: Connection) -> None:
    """The rows that are there before the shop opens."""
    connection.run(
        "insert into customers (id, email, name) select n, 'c' || n || '@example.org',"
        f" 'Customer ' || n from generate_series(1, {CUSTOMERS}) n"
    )
    connection.run(
        "insert into products select 'P' || n, 'Product ' || n, 5 + n * 1.37, 1000, 1000,"
        f" jsonb_build_object('shelf', n % 7) from generate_series(1, {PRODUCTS}) n"
    )
    dice = random.Random(0)
    for transaction in [place_order] * FIRST_ORDERS + [pay] * FIRST_PAYMENTS:
        in_transaction(connection, transaction, dice)


def place_order(db: Connection, dice: random.Random) -> None:
    """An order of one to four products, which leave the stock."""
    customer = db.run("select id from customers order by random() limit 1")[0][0]
    db.run(LOCK_CUSTOMER, id=customer)
    order = db.run("select nextval('order_number')")[0][0]
    db.run(
        "insert into orders (id, customer_id) values (:id, :customer)", id=order, customer=customer
    )
    # Sorted, so that two sessions never wait for each other's products.
    numbers = sorted(dice.sample(range(1, PRODUCTS + 1), dice.randint(1, 4)))
    for line, number in enumerate(numbers):
        db.run(
            "with sold as"
            " (update products set stock = stock - :qty where sku = :sku returning price)"
            " insert into order_items select :id, :line, :sku, :qty, price from sold",
            id=order,
            line=line,
            sku=f"P{number}",
            qty=dice.randint(1, 3),
        )
    change_total(db, order, customer)


def change_total(db: Connection, order: int, customer: int) -> None:
    """Bring an order's total and its customer's balance to what the items are."""
    db.run(
        "with was as (select total from orders where id = :id),"
        " now as (update orders set total ="
        " (select coalesce(sum(qty * unit_price), 0) from order_items where order_id = :id)"
        " where id = :id returning total)"
        " update customers set updated_at = clock_timestamp(),"
        " balance = balance - (select total from now) + (select total from was)"
        " where id = :customer",
        id=order,
        customer=customer,
    )


def locked_order(db: Connection) -> tuple[int, int] | None:
    """An order and its customer, both locked; None if another session was faster."""
    found = db.run(ANY_ORDER)
    if not found:
        return None
    order, customer = found[0]
    if not db.run(LOCK_CUSTOMER, id=customer):
        return None
    is_there = db.run(
        "select 1 from orders where id = :id and customer_id = :customer for update",
        id=order,
        customer=customer,
    )
    return (order, customer) if is_there else None


def pay(db: Connection, dice: random.Random) -> None:
    """A payment of a part of an order, or of all of it."""
    if found := locked_order(db):
        order, customer = found
        db.run(
            "with paid as (insert into payments (order_id, amount, method)"
            " select id, round(total * :share / 4, 2), :method from orders where id = :id"
            " returning amount)"
            " update customers set balance = balance + (select amount from paid)"
            " where id = :customer",
            id=order,
            customer=customer,
            share=dice.randint(1, 4),
            method=dice.choice(["card", "cash", "transfer"]),
        )
        db.run("update orders set status = 'paid' where id = :id", id=order)


def change_quantity(db: Connection, dice: random.Random) -> None:
    """One more of the first item, or one less of an item of several."""
    if found := locked_order(db):
        order, customer = found
        more = dice.choice([1, 2])
        db.run(
            "with item as (update order_items set qty = qty + :more where order_id = :id"
            " and line_no = 0 returning sku)"
            " update products set stock = stock - :more where sku = (select sku from item)",
            id=order,
            more=more,
        )
        change_total(db, order, customer)


def cancel(db: Connection, _: random.Random) -> None:
    """An order goes with its items and payments, and the products return to the stock."""
    if found := locked_order(db):
        order, customer = found
        for sku, qty in db.run(
            "select sku, qty from order_items where order_id = :id order by substr(sku, 2)::int",
            id=order,
        ):
            db.run("update products set stock = stock + :qty where sku = :sku", qty=qty, sku=sku)
        db.run(
            "update customers set balance = balance + (select total from orders where id = :id)"
            " - (select coalesce(sum(amount), 0) from payments where order_id = :id)"
            " where id = :customer",
            id=order,
            customer=customer,
        )
        db.run("delete from orders where id = :id", id=order)


def change_price(db: Connection, dice: random.Random) -> None:
    """A new price, a delivery, and a note that PostgreSQL keeps as JSON."""
    db.run(
        "update products set price = price + 0.11, stock = stock + 20, made = made + 20,"
        " attrs = attrs || jsonb_build_object('delivered', cast(:day as int)) where sku = :sku",
        day=dice.randint(1, 28),
        sku=f"P{dice.randint(1, PRODUCTS)}",
    )


def write_note(db: Connection, dice: random.Random) -> None:
    """A savepoint that is taken back, and a note in letters beyond ASCII."""
    if found := locked_order(db):
        db.run("savepoint before_note")
        db.run("update orders set note = 'taken back' where id = :id", id=found[0])
        db.run("rollback to savepoint before_note")
        note = dice.choice(["", "Größe M", "李雷 🙂", 'it\'s "urgent"'])
        db.run("update orders set note = :note where id = :id", note=note, id=found[0])


def change_key(db: Connection, _: random.Random) -> None:
    """A customer gets another number, and so do the customer's orders."""
    customer = db.run("select id from customers order by random() limit 1")[0][0]
    if db.run("select id from customers where id = :id for update", id=customer):
        moved = customer + 1000 if customer < 1000 else customer - 1000
        db.run("update customers set id = :moved where id = :id", moved=moved, id=customer)


KINDS: Final[dict[Transaction, int]] = {
    place_order: 45,
    pay: 20,
    change_quantity: 10,
    cancel: 8,
    change_price: 8,
    write_note: 5,
    change_key: 2,
}
"""What sessions do, and how often."""


def archive_payments(db: Connection, _: random.Random) -> None:
    """TRUNCATE payments; the balances follow in the same transaction."""
    db.run("lock table customers in exclusive mode")
    db.run("truncate payments")
    db.run(
        "update customers set balance ="
        " -(select coalesce(sum(total), 0) from orders where customer_id = customers.id)"
    )


def in_transaction(
    db: Connection, transaction: Transaction, dice: random.Random, *, commits: bool = True
) -> str:
    """Run a transaction; the value is its id.

    Raises:
        DatabaseError: it fails, and is rolled back.
    """
    db.run("begin")
    try:
        transaction(db, dice)
        found: str = db.run("select pg_current_xact_id()::text")[0][0]
        db.run("commit" if commits else "rollback")
    except DatabaseError:
        db.run("rollback")
        raise
    return found


class Shop:
    """Sessions that trade until the shop closes.

    Args:
        port: of the server on this machine.
        sessions: how many trade at the same time.
        pause: seconds between two transactions of a session, on average.
    """

    def __init__(self, port: int, sessions: int, pause: float, user: str = "postgres") -> None:
        self._port, self._user, self._pause = port, user, pause
        self._closes = threading.Event()
        self._threads = [
            threading.Thread(target=self._trade, args=(number,), daemon=True)
            for number in range(sessions)
        ]
        self.error: Exception | None = None

    def connection(self) -> Connection:
        """A session of its own."""
        return Connection(self._user, host=HOST, port=self._port)

    def open(self) -> None:
        """Let the sessions trade."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Let each session end its transaction.

        Raises:
            Exception: a session has failed.
        """
        self._closes.set()
        for thread in self._threads:
            thread.join()
        if self.error:
            raise self.error

    def _trade(self, number: int) -> None:
        dice = random.Random(number)
        try:
            with self.connection() as db:
                while not self._closes.wait(dice.uniform(0, 2 * self._pause)):
                    (kind,) = dice.choices(list(KINDS), list(KINDS.values()))
                    commits = dice.random() >= ROLLED_BACK
                    try:
                        in_transaction(db, kind, dice, commits=commits)
                    except DatabaseError as error:
                        if sqlstate(error) not in RETRIED:
                            raise
        except Exception as error:  # `close` raises it; the server may have ended first
            self.error = error


def sqlstate(error: DatabaseError) -> str:
    """PostgreSQL's code of an error."""
    said: Any = error.args[0]
    return str(said.get("C")) if isinstance(said, dict) else ""


def deliver_slowly(
    db: Connection, count: int, seconds: float, tell: Callable[[int], None] = lambda _: None
) -> str:
    """A long transaction: new products, in parts. It is left open; the value is its id.

    Args:
        count: how many products.
        seconds: how long it takes.
        tell: called with how many are there.
    """
    db.run("begin")
    parts = 4
    for part in range(parts):
        first = part * count // parts + 1
        last = (part + 1) * count // parts
        db.run(
            "insert into products select 'N' || n, 'New product ' || n, 1 + n * 0.01, 5, 5, null"
            f" from generate_series({first}, {last}) n"
        )
        tell(last)
        time.sleep(seconds / parts)
    found: str = db.run("select pg_current_xact_id()::text")[0][0]
    return found
