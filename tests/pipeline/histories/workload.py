"""Transactions of the bank, one after the other: what they change, and the SQL that does it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from histories.knobs import Knobs
from histories.plan import AUDIT, MESSAGE, PLACEHOLDER, TABLES, Event, Row, Value

Statement = tuple[str, tuple[Value, ...]]
Key = tuple[Value, ...]
Record = list[Event]
"""Events of one record of the write-ahead log, which share its LSN."""

NAMES = ("ada", "bo", 'c"d', "é", "o'neil", "")
KINDS = ("in", "out", "fee")


@dataclass(slots=True)
class Draft:
    """A transaction before it has a place in the log."""

    records: list[Record] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    bank_total: int = 0
    """The sum of all balances after it."""


class Workload:
    """A database that is written to."""

    def __init__(self, rng: Random, knobs: Knobs) -> None:
        self.rng = rng
        self.knobs = knobs
        self.keyed: dict[str, dict[Key, Row]] = {"account": {}, "transfer": {}, "pair": {}}
        self.tally: list[tuple[str, int]] = []
        self.bank_total = 0
        self._next_id = 9  # below are the numbers of pairs
        self._draft = Draft()
        self._actions: list[tuple[Callable[[], None], float]] = [
            (self._transfer_money, 1.5),
            (self._open_account, 0.8),
            (self._pay_in, 0.4),
            (self._pay_everybody, 0.2),
            (self._write_note, 0.6),
            (self._close_account, 0.3),
            (self._forget_transfers, 0.2),
            (self._copy_transfers, knobs.copy),
            (self._change_key, knobs.key_change),
            (self._chain_keys, knobs.key_chain),
            (self._swap_keys, knobs.key_swap),
            (self._reinsert, knobs.reinsert),
            (self._truncate_one, knobs.truncate),
            (self._truncate_many, knobs.truncate_many),
            (self._add_to_bag, knobs.bag),
            (self._take_from_bag, knobs.bag * 0.6),
            (self._change_in_bag, knobs.bag * 0.4),
            (self._change_kind, knobs.bag * 0.2),
            (self._put_pair, knobs.pair),
            (self._move_pair, knobs.pair * knobs.key_change),
            (self._drop_pair, knobs.pair * 0.4),
            (self._audit, knobs.audit),
            (self._change_nothing, knobs.nothing_changed),
            (self._send_message, knobs.message),
        ]

    def transaction(self) -> Draft:
        """Commit one more."""
        self._draft = Draft()
        actions, weights = zip(*self._actions, strict=True)
        count = self.rng.randint(1, self.knobs.actions_per_transaction)
        for action in self.rng.choices(actions, weights, k=count):
            action()
        self._draft.bank_total = self.bank_total
        return self._draft

    def truncate(self) -> Draft:
        """Empty a table, and do nothing else."""
        self._draft = Draft()
        self._record(self._emptied(self.rng.choice(list(TABLES))))
        self._draft.bank_total = self.bank_total
        return self._draft

    def touch(self, times: int) -> Draft:
        """Commit changes of every table."""
        self._draft = Draft()
        for _ in range(times):
            self._open_account()
            self._insert("transfer", self._new_transfer())
            self._put_pair()
            self._put_in_bag("in", 1)
        self._draft.bank_total = self.bank_total
        return self._draft

    def rows(self, table: str) -> list[Row]:
        if table == "tally":
            return [{"kind": kind, "n": n} for kind, n in self.tally]
        return list(self.keyed[table].values())

    # --- what an action is made of

    def _run(self, statement: str, *values: Value) -> None:
        self._draft.statements.append((statement, values))

    def _record(self, *events: Event) -> None:
        self._draft.records.append(list(events))

    def _keep(self, table: str, row: Row) -> None:
        self.keyed[table][_key(table, row)] = row

    def _created(self, table: str, row: Row) -> Event:
        self._keep(table, row)
        return Event(table, "c", key=TABLES[table].key_of(row), after=dict(row))

    def _insert(self, table: str, row: Row) -> None:
        marks = ", ".join("?" * len(row))
        self._run(f"insert into {table} values ({marks})", *row.values())
        self._record(self._created(table, row))

    def _deleted(self, table: str, row: Row) -> Event:
        del self.keyed[table][_key(table, row)]
        shape = TABLES[table]
        if self.knobs.connector != "postgresql":
            return Event(table, "d", key=shape.key_of(row), before=dict(row))
        before = {name: row[name] if name in shape.key else shape.filler[name] for name in row}
        return Event(table, "d", key=shape.key_of(row), before=before)

    def _updated(self, table: str, old: Row, **changes: Value) -> None:
        """A row's update; its SQL is the caller's."""
        row = {**old, **changes}
        key, old_key = TABLES[table].key_of(row), TABLES[table].key_of(old)
        is_whole = self.knobs.connector != "postgresql"
        if is_whole and row == old:
            return  # no log of a change table has it
        sent = {
            name: PLACEHOLDER
            if isinstance(value, str) and value.startswith("long ") and old[name] == value
            else value
            for name, value in row.items()
        }
        if key == old_key:
            self._keep(table, row)
            before = dict(old) if is_whole else None
            self._record(Event(table, "u", key=key, before=before, after=sent))
            return
        gone = self._deleted(table, old)
        self._keep(table, row)
        if self.knobs.connector == "cdl":
            self._record(Event(table, "u", key, gone.before, sent, old_key=old_key))
            return
        come = Event(table, "c", key=key, after=sent)
        # SQL Server logs a delete and an insert, of which nothing tells that they are one.
        if self.knobs.connector != "sqlserver":
            gone.new_key, come.old_key = key, old_key
        self._record(gone, come)

    def _some(self, table: str) -> Row | None:
        rows = self.rows(table)
        return self.rng.choice(rows) if rows else None

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _text(self) -> str | None:
        if self.rng.random() < self.knobs.toast:
            return f"long {self.rng.randint(1, 99)}"
        return self.rng.choice((*NAMES, None))

    # --- actions

    def _open_account(self) -> None:
        owner = self.rng.choice(NAMES)
        row: Row = {"id": self._new_id(), "owner": owner, "balance": 0, "note": self._text()}
        self._insert("account", row)

    def _add(self, row: Row, amount: int) -> None:
        self._run("update account set balance = balance + ? where id = ?", amount, row["id"])
        self._updated("account", row, balance=int(row["balance"] or 0) + amount)

    def _transfer_money(self) -> None:
        if len(self.keyed["account"]) < 2:
            self._open_account()
            self._pay_in()
            return
        source, target = self.rng.sample(self.rows("account"), 2)
        amount = self.rng.randint(1, 50)
        ends = {"src": source["id"], "dst": target["id"]}
        self._insert("transfer", {"id": self._new_id(), **ends, "amount": amount})
        self._add(source, -amount)
        self._add(target, amount)

    def _pay_in(self) -> None:
        if row := self._some("account"):
            amount = self.rng.randint(1, 100)
            self._add(row, amount)
            self.bank_total += amount

    def _pay_everybody(self) -> None:
        self._run("update account set balance = balance + 1")
        self.bank_total += len(self.keyed["account"])
        for row in self.rows("account"):
            self._updated("account", row, balance=int(row["balance"] or 0) + 1)

    def _write_note(self) -> None:
        if row := self._some("account"):
            note = self._text()
            self._run("update account set note = ? where id = ?", note, row["id"])
            self._updated("account", row, note=note)

    def _close_account(self) -> None:
        if len(self.keyed["account"]) < 2:
            return
        closed, heir = self.rng.sample(self.rows("account"), 2)
        self._add(heir, int(closed["balance"] or 0))
        self._run("delete from account where id = ?", closed["id"])
        self._record(self._deleted("account", closed))

    def _new_transfer(self) -> Row:
        return {"id": self._new_id(), "src": 0, "dst": 0, "amount": self.rng.randint(1, 9)}

    def _forget_transfers(self) -> None:
        limit = self.rng.randint(1, 25)
        self._run("delete from transfer where amount < ?", limit)
        for row in [row for row in self.rows("transfer") if int(row["amount"] or 0) < limit]:
            self._record(self._deleted("transfer", row))

    def _copy_transfers(self) -> None:
        """COPY: one record of the log holds many rows."""
        rows = [self._new_transfer() for _ in range(self.rng.randint(2, 4))]
        for row in rows:
            self._run("insert into transfer values (?, ?, ?, ?)", *row.values())
        self._record(*(self._created("transfer", row) for row in rows))

    def _move_account(self, row: Row, new_id: Value) -> Row:
        self._run("update account set id = ? where id = ?", new_id, row["id"])
        self._updated("account", row, id=new_id)
        return {**row, "id": new_id}

    def _change_key(self) -> None:
        if row := self._some("account"):
            self._move_account(row, self._new_id())

    def _chain_keys(self) -> None:
        if row := self._some("account"):
            first = row["id"]
            for _ in range(self.rng.randint(2, 3)):
                row = self._move_account(row, self._new_id())
                if self.rng.random() < 0.3:
                    self._add(row, 0)
            if self.rng.random() < 0.4:
                self._move_account(row, first)

    def _swap_keys(self) -> None:
        if len(self.keyed["account"]) < 2:
            return
        one, other = self.rng.sample(self.rows("account"), 2)
        parked = self._move_account(one, self._new_id())
        self._move_account(other, one["id"])
        self._move_account(parked, other["id"])

    def _reinsert(self) -> None:
        if row := self._some("account"):
            self._run("delete from account where id = ?", row["id"])
            self._record(self._deleted("account", row))
            self._insert("account", {**row, "note": self._text()})

    def _emptied(self, table: str) -> Event:
        self._run(f"delete from {table}")
        if table == "tally":
            self.tally.clear()
        else:
            self.keyed[table].clear()
        if table == "account":
            self.bank_total = 0
        return Event(table, "t")

    def _truncate_one(self) -> None:
        table = self.rng.choice(list(TABLES))
        if table == "tally" and self.rng.random() < 0.5:
            self._put_in_bag("in", 2)
        self._record(self._emptied(table))
        if self.rng.random() < 0.4:
            self._add_to_bag()
            self._open_account()

    def _truncate_many(self) -> None:
        self._record(*map(self._emptied, self.rng.sample(list(TABLES), self.rng.randint(2, 3))))

    def _put_in_bag(self, kind: str, n: int) -> None:
        self._run("insert into tally values (?, ?)", kind, n)
        self._record(self._poured(kind, n))

    def _poured(self, kind: str, n: int) -> Event:
        self.tally.append((kind, n))
        return Event("tally", "c", after={"kind": kind, "n": n})

    def _add_to_bag(self) -> None:
        kind, n = self.rng.choice(KINDS), self.rng.randint(1, 2)
        count = self.rng.randint(1, 3)
        if count > 1 and self.rng.random() < self.knobs.copy:
            for _ in range(count):
                self._run("insert into tally values (?, ?)", kind, n)
            self._record(*(self._poured(kind, n) for _ in range(count)))
        else:
            for _ in range(count):
                self._put_in_bag(kind, n)

    def _take_from_bag(self) -> None:
        if not self.tally:
            return
        kind, n = self.rng.choice(self.tally)
        self.tally.remove((kind, n))
        self._run(
            "delete from tally where rowid = "
            "(select rowid from tally where kind = ? and n = ? limit 1)",
            kind,
            n,
        )
        self._record(Event("tally", "d", before={"kind": kind, "n": n}))

    def _changed(self, old: tuple[str, int], new: tuple[str, int]) -> None:
        self.tally.remove(old)
        self.tally.append(new)
        before: Row = {"kind": old[0], "n": old[1]}
        self._record(Event("tally", "u", before=before, after={"kind": new[0], "n": new[1]}))

    def _change_in_bag(self) -> None:
        if not self.tally:
            return
        kind, n = self.rng.choice(self.tally)
        self._run(
            "update tally set n = n + 1 where rowid = "
            "(select rowid from tally where kind = ? and n = ? limit 1)",
            kind,
            n,
        )
        self._changed((kind, n), (kind, n + 1))

    def _change_kind(self) -> None:
        kind, other = self.rng.sample(KINDS, 2)
        self._run("update tally set kind = ? where kind = ?", other, kind)
        for row in [row for row in self.tally if row[0] == kind]:
            self._changed(row, (other, row[1]))

    def _put_pair(self) -> None:
        a, b, v = self.rng.choice("xyz"), self.rng.randint(1, 3), self._text()
        row: Row = {"a": a, "b": b, "v": v}
        if old := self.keyed["pair"].get((a, b)):
            self._run("update pair set v = ? where a = ? and b = ?", v, a, b)
            self._updated("pair", old, v=v)
        else:
            self._insert("pair", row)

    def _move_pair(self) -> None:
        row, b = self._some("pair"), self._new_id()
        if row:
            self._run("update pair set b = ? where a = ? and b = ?", b, row["a"], row["b"])
            self._updated("pair", row, b=b)

    def _drop_pair(self) -> None:
        if row := self._some("pair"):
            self._run("delete from pair where a = ? and b = ?", row["a"], row["b"])
            self._record(self._deleted("pair", row))

    def _audit(self) -> None:
        row: Row = {"id": self._new_id()}
        self._record(Event(AUDIT, "c", key=row, after=row))

    def _change_nothing(self) -> None:
        if row := self._some("pair"):
            self._run("update pair set v = v where a = ? and b = ?", row["a"], row["b"])
            self._updated("pair", row)

    def _send_message(self) -> None:
        self._record(Event(MESSAGE, "m", key={"prefix": "bank"}))


def _key(table: str, row: Row) -> Key:
    return tuple(row[name] for name in TABLES[table].key)
