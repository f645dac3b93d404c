"""What the database held after each commit, noted by triggers and in the order of the commits.

It knows nothing of Debezium, so it can judge what came through it.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from pg8000.native import Connection

KEYS = {
    "customers": ("id",),
    "products": ("sku",),
    "orders": ("id",),
    "order_items": ("order_id", "line_no"),
    "payments": ("id",),
}
"""The shop's tables, and what tells their rows apart."""

Row = tuple[str | None, ...]
"""The values of a row as text, in the order of `Columns`."""
Rows = dict[str, Counter[Row]]
"""By table."""
Columns = dict[str, dict[str, str]]
"""By table: each column and its PostgreSQL type."""

LOG = """
create schema log;
create sequence log.commit_number;
create table log.transaction (xid bigint primary key, number bigint, committed_at timestamptz);
create table log.change (
    id bigserial primary key, xid bigint, table_name text, operation text,
    old_key text[], new_key text[], new_row text[]
);
create index on log.transaction (number);
create function log.number_commit() returns trigger language plpgsql as $$
begin
    -- Held until the commit is written, so that numbers are in the order of the log.
    perform pg_advisory_xact_lock(1);
    update log.transaction
    set number = nextval('log.commit_number'), committed_at = clock_timestamp()
    where xid = new.xid;
    return null;
end $$;
create constraint trigger number_commit after insert on log.transaction
    deferrable initially deferred for each row execute function log.number_commit();
"""

LOG_OF_TABLE = """
create function log.{table}() returns trigger language plpgsql as $$
declare
    this_xid bigint := pg_current_xact_id()::text::bigint;
    old_key text[];
    new_key text[];
    new_row text[];
begin
    if tg_op in ('UPDATE', 'DELETE') then
        old_key := array[{old_key}];
    end if;
    if tg_op in ('INSERT', 'UPDATE') then
        new_key := array[{new_key}];
        new_row := array[{new_row}];
    end if;
    insert into log.transaction (xid) values (this_xid) on conflict do nothing;
    insert into log.change (xid, table_name, operation, old_key, new_key, new_row)
    values (this_xid, '{table}', tg_op, old_key, new_key, new_row);
    return null;
end $$;
create trigger log_rows after insert or update or delete on {table}
    for each row execute function log.{table}();
create trigger log_truncate after truncate on {table}
    for each statement execute function log.{table}();
"""

POSITION = """
select
    count(*),
    count(*) filter (where number <= :shown),
    extract(epoch from clock_timestamp() - min(committed_at) filter (where number > :shown))
from log.transaction
where number > :first
"""


@dataclass(frozen=True, slots=True)
class Position:
    """Where tables stand in the database's commits."""

    committed: int
    """Transactions that the database has committed since the shop opened."""
    shown: int
    """Those of them that the tables show."""
    seconds_behind: float
    """How long ago the first was committed that they do not show; 0 if there is none."""


class CommitLog:
    """The log of a database, from its first row on.

    Args:
        port: of the server on this machine.
        user: who reads it.
    """

    def __init__(self, port: int, user: str = "postgres") -> None:
        self._session = Connection(user, host="127.0.0.1", port=port)
        self._first = 0
        self.columns: Columns = {}

    def install(self) -> None:
        """Begin to note what changes."""
        found: Columns = {table: {} for table in KEYS}
        for table, column, kind in self._session.run(
            "select table_name::text, column_name::text, data_type::text"
            " from information_schema.columns where table_schema = 'public'"
            " order by table_name, ordinal_position"
        ):
            found[table][column] = kind
        self.columns = found
        self._session.run(LOG)
        for table, key in KEYS.items():
            columns = found[table]
            self._session.run(
                LOG_OF_TABLE.format(
                    table=table,
                    old_key=", ".join(f"old.{name}::text" for name in key),
                    new_key=", ".join(f"new.{name}::text" for name in key),
                    new_row=", ".join(as_text(f"new.{one}", columns[one]) for one in columns),
                )
            )

    def opens(self) -> None:
        """Count transactions from here on."""
        self._first = self._session.run("select coalesce(max(number), 0) from log.transaction")[0][
            0
        ]

    def position(self, transaction_id: str | None) -> Position:
        """Where tables stand whose newest transaction is this one; None is the first snapshot.

        Raises:
            KeyError: the database has committed no such transaction.
        """
        shown = self._number(transaction_id) if transaction_id else self._first
        rows = self._session.run(POSITION, shown=shown, first=self._first)
        committed, count, seconds = rows[0]
        return Position(committed, count, float(seconds or 0))

    def newest(self) -> str | None:
        """The id of the transaction that was committed last."""
        found = self._session.run("select xid from log.transaction order by number desc limit 1")
        return str(found[0][0]) if found else None

    def committed_at(self, transaction_id: str) -> dict[str, float]:
        """When it and those before it were committed, in seconds since 1970.

        Those before the shop opened are left out.

        Raises:
            KeyError: the database has committed no such transaction.
        """
        found = self._session.run(
            "select xid, extract(epoch from committed_at) from log.transaction"
            " where number > :first and number <= :last",
            first=self._first,
            last=self._number(transaction_id),
        )
        return {str(xid): float(at) for xid, at in found}

    def rows_at(self, transaction_id: str) -> Rows:
        """What the tables held right after a transaction's commit."""
        return self.rows_at_each([transaction_id])[transaction_id]

    def rows_at_each(self, transaction_ids: Collection[str]) -> dict[str, Rows]:
        """What the tables held right after each transaction's commit.

        Raises:
            KeyError: the database has committed no such transaction.
        """
        wanted = {self._number(one): one for one in transaction_ids}
        held: dict[str, dict[Row, Row]] = {table: {} for table in KEYS}
        found: dict[str, Rows] = {}
        last = 0
        changes = self._session.run(
            "select t.number, c.table_name, c.operation, c.old_key, c.new_key, c.new_row"
            " from log.change c join log.transaction t using (xid)"
            " where t.number <= :last order by t.number, c.id",
            last=max(wanted, default=0),
        )
        for number, table, operation, old_key, new_key, new_row in changes:
            if number != last and last in wanted:
                found[wanted[last]] = counted(held)
            last = number
            apply(held[table], operation, old_key, new_key, new_row)
        if last in wanted:
            found[wanted[last]] = counted(held)
        return found

    def rows_now(self) -> Rows:
        """What the tables hold, read from the tables themselves."""
        return {
            table: Counter(
                tuple(row)
                for row in self._session.run(
                    "select "
                    + ", ".join(as_text(name, kind) for name, kind in columns.items())
                    + f" from {table}"
                )
            )
            for table, columns in self.columns.items()
        }

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _number(self, transaction_id: str) -> int:
        found = self._session.run(
            "select number from log.transaction where xid = :xid", xid=int(transaction_id)
        )
        if not found:
            raise KeyError(transaction_id)
        number: int = found[0][0]
        return number


def as_text(name: str, kind: str) -> str:
    """An expression of PostgreSQL that shows a column as `lake_rows` does.

    >>> as_text("total", "numeric"), as_text("paid_at", "timestamp without time zone")
    ('total::text', "to_char(paid_at, 'YYYY-MM-DD HH24:MI:SS.US')")
    """
    if not kind.startswith("timestamp"):
        return f"{name}::text"
    in_utc = f"{name} at time zone 'UTC'" if kind.endswith("with time zone") else name
    return f"to_char({in_utc}, 'YYYY-MM-DD HH24:MI:SS.US')"


def apply(
    held: dict[Row, Row],
    operation: str,
    old_key: Iterable[str] | None,
    new_key: Iterable[str] | None,
    new_row: Iterable[str | None] | None,
) -> None:
    """One change of one table."""
    if operation == "TRUNCATE":
        held.clear()
    if old_key is not None:
        del held[tuple(old_key)]
    if new_key is not None and new_row is not None:
        held[tuple(new_key)] = tuple(new_row)


def counted(held: dict[str, dict[Row, Row]]) -> Rows:
    return {table: Counter(rows.values()) for table, rows in held.items()}


def differences(one: Rows, other: Rows) -> dict[str, Any]:
    """How many rows of each table are in one of both alone; empty if they are equal."""
    return {
        table: {
            "missing": (one[table] - other[table]).total(),
            "extra": (other[table] - one[table]).total(),
        }
        for table in one
        if one[table] != other[table]
    }
