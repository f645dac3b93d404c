"""What is grouped of the messages of a source: few facts, however many messages there are.

What a message belongs to is its unit, as `units` says: a transaction, the reads of a snapshot at a
place, or the reads of a window.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # ships no types

from dbt_debezium.judge.marks import Range

SLICE: Final = 4_000
"""Rows that are objects of Python at one time."""
KEPT: Final = 40_000
"""So many rows stay objects: they are asked for several times."""

Row = TypeVar("Row", bound=tuple[Any, ...])
TopicPartition: TypeAlias = tuple[str, int]
"""Topic and partition."""
StretchKind: TypeAlias = Literal["change", "read", "window", "other"]


class Count(NamedTuple):
    """One row per transaction, table, and commit that its changes name as the one before."""

    transaction_id: str
    data_collection: str
    connector: str
    previous: str | None = None
    commit_position: str | None = None
    log_position: str | None = None
    is_whole: bool = False
    """Whether it is a transaction by itself: a TRUNCATE without BEGIN and END."""
    has_block: bool = True
    """Whether each of its changes has a transaction block."""
    received: int = 1
    """Distinct changes (S1)."""
    is_regular: bool = True
    """Whether `data_collection_order` is exactly 1 to `received`, and each has a `total_order`."""
    copies_agree: bool = True
    key_leaves: int = 0
    key_enters: int = 0
    closes_window: bool = False
    first_place: str | None = None
    last_place: str | None = None
    committed_at: int = 0


class Stretch(NamedTuple):
    """One row per partition, unit, table, and commit that is named as the one before: where its
    messages lie in the partition."""

    topic: str
    partition: int
    kind: StretchKind
    first_offset: int
    last_offset: int
    first_place: str | None
    last_place: str | None
    unit_id: str | None = None
    data_collection: str | None = None
    connector: str | None = None
    previous: str | None = None
    commit_position: str | None = None
    first_new: int | None = None
    """The first that is no copy; None where all are."""
    last_new: int | None = None
    new_count: int = 0
    markers: frozenset[str] = frozenset()
    """What `source.snapshot` says of reads."""
    has_signals: bool = False
    database: str | None = None
    first_at: int = 0
    last_at: int = 0
    """When its changes were committed, or its rows read."""
    landed_at: int | None = None
    """When the newest of its messages landed, in microseconds; None where nothing tells."""

    @property
    def key(self) -> TopicPartition:
        return self.topic, self.partition


class Marker(NamedTuple):
    """BEGIN or END."""

    topic: str
    partition: int
    offset: int
    source: str | None
    database: str | None
    is_end: bool
    transaction_id: str
    position: str | None
    log_position: str | None
    event_count: int
    counts: dict[str, int]
    committed_at: int | None


class Control(NamedTuple):
    """A message of a kind that is rare: a logical message, a signal, DDL, what cannot be read.

    `connector`: a logical message inside a transaction, which shows the connector. `nameless`: a
    change of which nothing tells a transaction. Like what cannot be read, it may stand anywhere.
    """

    topic: str
    partition: int
    offset: int
    kind: Literal["message", "signal", "statement", "unreadable", "nameless", "connector"]
    connector: str | None = None
    transaction_id: str | None = None
    position: str | None = None
    previous: str | None = None
    log_position: str | None = None
    committed_at: int | None = None

    @property
    def key(self) -> TopicPartition:
        return self.topic, self.partition


class Change(NamedTuple):
    """A change of a transaction whose numbers are odd."""

    transaction_id: str
    data_collection: str
    place: str | None
    first_order: int
    total_orders: tuple[int, ...]
    table_orders: tuple[int, ...]
    has_one_content: bool


READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "markers": lambda value: frozenset(value or ()) - {"incremental"},
    "counts": lambda value: dict(value or ()),
    "total_orders": lambda value: tuple(sorted(one or 0 for one in value or ())) or (0,),
    "table_orders": lambda value: tuple(sorted(one or 0 for one in value or ())) or (0,),
}
"""By field, what Arrow has otherwise than Python."""


class Rows(Generic[Row]):
    """Rows in columns of Arrow, of which a slice at a time becomes objects."""

    def __init__(self, kind: Callable[..., Row], fields: Sequence[str], tables: Sequence[pa.Table]):
        """Take the tables, which have a column for each field.

        Args:
            kind: makes a row of a sequence of values.
            fields: the names of the values.
            tables: any number of them. A column of nulls need not have its type.
        """
        self._make, self._fields = kind, fields
        some = [one.select(fields) for one in tables if one.num_rows]
        self._table = None
        if some:
            self._table = pa.concat_tables(some, promote_options="default").unify_dictionaries()
        self._texts: dict[str, list[str]] = {}
        """Of columns whose texts are kept once, those texts."""
        self._where: dict[tuple[str, object], Rows[Row]] = {}
        self._kept: list[Row] | None = None if len(self) > KEPT else [*self._slices(None)]

    def __len__(self) -> int:
        return 0 if self._table is None else int(self._table.num_rows)

    def __iter__(self) -> Iterator[Row]:
        return self._slices(None) if self._kept is None else iter(self._kept)

    def mapped(self, change: Callable[[Row], Row]) -> "Rows[Row]":
        """The same rows, each changed as it becomes an object."""
        found: Rows[Row] = Rows(
            lambda values: change(self._make(values)),
            self._fields,
            [self._table] if self._table is not None else [],
        )
        return found

    def where(self, name: str, value: object) -> "Rows[Row]":
        """Those of which a field has a value."""
        found = self._where.get((name, value))
        if found is None:
            some = [] if self._table is None else [self._only(name, value)]
            found = self._where[name, value] = Rows(self._make, self._fields, some)
            found._texts = self._texts
        return found

    def _only(self, name: str, value: object) -> pa.Table:
        assert self._table is not None
        return self._table.filter(pc.fill_null(pc.equal(self._table[name], value), False))

    def distinct(self, *names: str) -> list[tuple[Any, ...]]:
        """What some fields of a row have together, each once."""
        if self._table is None:
            return []
        known = self._table.select(names).group_by([*names], use_threads=False).aggregate([])
        return [*zip(*(self._values(known[one], one) for one in names), strict=True)]

    def at(self, order: Sequence[int]) -> Iterator[Row]:
        """The rows at places, in that order."""
        if self._kept is None:
            return self._slices(order)
        return map(self._kept.__getitem__, order)

    def _slices(self, order: Sequence[int] | None) -> Iterator[Row]:
        if self._table is None:
            return
        for at in range(0, len(self) if order is None else len(order), SLICE):
            if order is None:
                part = self._table.slice(at, SLICE)
            else:
                part = self._table.take(pa.array(order[at : at + SLICE], pa.int64()))
            yield from map(
                self._make,
                zip(*(self._values(part[one], one) for one in self._fields), strict=True),
            )

    def _values(self, column: pa.ChunkedArray, name: str) -> list[Any]:
        """The values of a column. A text that repeats is one object."""
        if not pa.types.is_dictionary(column.type):
            values: list[Any] = column.to_pylist()
            return [*map(READERS[name], values)] if name in READERS else values
        found: list[Any] = []
        for chunk in column.chunks:
            if name not in self._texts:
                self._texts[name] = chunk.dictionary.to_pylist()
            texts = self._texts[name]
            found += [None if one is None else texts[one] for one in chunk.indices.to_pylist()]
        return found


class Again(NamedTuple):
    """Rows of a run that say nothing new, by their numbers."""

    copies: pa.Array
    """Changes that are copies of another one (S1)."""
    repeats: pa.Array
    """Deliveries that were delivered before."""


@dataclass(frozen=True)
class Facts:
    """All facts of a source that a run is given."""

    counts: Rows[Count]
    stretches: Rows[Stretch]
    markers: Rows[Marker]
    controls: list[Control]
    odd_changes: list[Change]
    doubly_ordered: frozenset[str]
    """Transactions in which two changes have one `total_order`."""
    ranges: list[Range]
    shared: frozenset[TopicPartition]
    """Partitions with messages of another source."""
    again: Again
