"""The first oracle: what the tables hold after each commit, by replay of what was sent."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from histories.plan import PLACEHOLDER, TABLES, Event, Plan, Row, Value

Key = tuple[Value, ...]


class ContradictionError(Exception):
    """The events cannot have happened; only a reduced history is so."""


@dataclass(slots=True)
class State:
    """The rows of all tables, by key; of the bag, how often each is there."""

    keyed: dict[str, dict[Key, Row]] = field(
        default_factory=lambda: {name: {} for name, table in TABLES.items() if table.key}
    )
    bag: Counter[Key] = field(default_factory=Counter)

    def rows(self) -> dict[str, list[tuple[Row, int]]]:
        """The rows of each table and how often each is there."""
        rows = {table: [(row, 1) for row in kept.values()] for table, kept in self.keyed.items()}
        names = TABLES["tally"].columns
        rows["tally"] = [
            (dict(zip(names, values, strict=True)), count) for values, count in self.bag.items()
        ]
        return rows

    def put(self, table: str, row: Row) -> None:
        """A read: the row is so, whatever it was."""
        if key := TABLES[table].key_of(row):
            self.keyed[table][tuple(key.values())] = row
        else:
            self.bag[tuple(row.values())] += 1

    def apply(self, event: Event) -> None:
        """One event.

        Raises:
            ContradictionError: a row of the bag goes that is not there, or a value that was not
                sent is not known.
        """
        if event.table not in TABLES:
            return
        if event.operation == "t":
            if event.table == "tally":
                self.bag.clear()
            else:
                self.keyed[event.table].clear()
        elif event.table == "tally":
            self._apply_to_bag(event)
        elif event.key is not None:
            self._apply_to_row(event, tuple(event.key.values()))

    def _apply_to_row(self, event: Event, key: Key) -> None:
        rows = self.keyed[event.table]
        if event.after is None:
            # The row stays known until the create that follows has taken over what it does not say.
            gone = rows.pop(key, None)
            if event.new_key is not None and gone is not None:
                rows[(*key, "moving")] = gone
            return
        old = rows.get(key)
        if event.old_key is not None:
            parted = tuple(event.old_key.values())
            old = rows.pop(parted if event.operation == "u" else (*parted, "moving"), None)
        row = dict(event.after)
        for name, value in row.items():
            if value == PLACEHOLDER:
                if old is None:
                    raise ContradictionError(f"{event.table}.{name} was not sent and is not known")
                row[name] = old[name]
        rows[key] = row

    def _apply_to_bag(self, event: Event) -> None:
        if event.before is not None:
            gone = tuple(event.before.values())
            if self.bag[gone] == 0:
                raise ContradictionError("a row of the bag goes that is not there")
            self.bag[gone] -= 1
            if not self.bag[gone]:
                del self.bag[gone]
        if event.after is not None:
            self.bag[tuple(event.after.values())] += 1


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that readers may come to see. The state changes with the next one: copy it."""

    epoch: int
    count: int
    """How many transactions of the epoch it takes in."""
    transaction: int | None
    """None for the snapshot."""
    state: State


def commits(plan: Plan) -> Iterator[Commit]:
    """Every commit of every epoch, in order."""
    reads: dict[int, list[tuple[str, Row]]] = {}
    windows: dict[int, list[tuple[str, Row]]] = {}
    for entry in plan.entries:
        # A read that was replaced by garbage was a read all the same.
        if entry.row is not None:
            known = windows if entry.transaction is not None else reads
            place = entry.epoch if entry.transaction is None else entry.transaction
            known.setdefault(place, []).append((entry.topic, entry.row))
    for number, epoch in enumerate(plan.epochs):
        if epoch.is_interrupted:
            continue
        state = State()
        for table, row in reads.get(number, []):
            state.put(table, row)
        if epoch.snapshot_lsn is not None:
            yield Commit(number, 0, None, state)
        count = 0
        for at in epoch.chain:
            transaction = plan.transactions[at]
            if transaction.id is None:
                continue
            count += 1
            for table, row in windows.get(at, []):
                state.put(table, row)
            for event in transaction.events:
                state.apply(event)
            yield Commit(number, count, at, state)
