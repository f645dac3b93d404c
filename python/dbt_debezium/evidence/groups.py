"""Narrow rows to facts: counts, stretches, markers, and what is rare. All grouping is Arrow's.

There is no object of Python for a message, but for those that are rare, and for copies.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any, Final, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # ships no types

from dbt_debezium.evidence.facts import (
    Again,
    Change,
    Control,
    Count,
    Facts,
    Marker,
    Rows,
    Stretch,
    TopicPartition,
)
from dbt_debezium.judge.marks import Range

CODED: Final = (
    "topic",
    "kind",
    "source",
    "connector",
    "database_name",
    "data_collection",
    "operation",
    "snapshot",
    "unit_kind",
    "unit_id",
    "transaction_id",
    "marker",
    "commit_position",
    "log_position",
    "previous_commit_position",
    "signal_type",
)
"""Columns whose texts repeat."""
UNITS_AT_ONCE: Final = 100_000
"""Rows that are grouped at one time, which bounds what the columns in between take."""
OF_NO_CHANGE: Final = ("kind", "source", "marker", "event_count", "collection_counts")
"""Columns that no grouping of changes asks for."""
COUNT_TYPES: Final = {
    **dict.fromkeys(("is_whole", "has_block", "is_regular", "copies_agree"), pa.bool_()),
    "closes_window": pa.bool_(),
    **dict.fromkeys(("received", "key_leaves", "key_enters", "committed_at"), pa.int64()),
}
"""Of the fields of `Count`; the others are texts."""
RARE: Final = pa.array(["logical_message", "schema_change"])
STRETCH_KINDS: Final = {"transaction": "change", "snapshot": "read", "window": "window"}

FOREIGN: Final = "foreign"
"""The kind of a message of another source in a topic that this one sends to, too."""

NO_ROWS: Final = pa.array([], pa.int64())

Delivery: TypeAlias = tuple[str, int, int]


def coded(rows: pa.Table) -> pa.Table:
    """The rows with each text that repeats kept once.

    Spark hands over a batch at a time: code it as it comes, and the batch can go.
    """
    columns = {
        name: pc.dictionary_encode(rows[name])
        if name in CODED and not pa.types.is_dictionary(rows.schema.field(name).type)
        else rows[name]
        for name in rows.column_names
    }
    return pa.table(columns)


def grouped(rows: pa.Table) -> Facts:
    """The facts of narrow rows.

    Args:
        rows: of `COLUMNS`, in any order; deliveries may repeat. Texts may be coded.
    """
    rows = coded(rows).unify_dictionaries()
    rows = rows.append_column("row_number", counted_up(rows.num_rows))
    ranges, has_repeats = _ranges(rows)
    repeats = NO_ROWS
    if has_repeats:
        rows, repeats = _once(rows)
    kind = plain(rows["kind"])
    is_unplaced = _is_unplaced(rows)
    is_change = pc.and_not(pc.equal(kind, "change"), is_unplaced)
    counts: list[pa.Table] = []
    stretches: list[pa.Table] = []
    odd: list[pa.Table] = []
    copies: list[pa.Array] = [NO_ROWS]
    doubly: set[str] = set()
    for part in _parts(rows, is_change):
        changes = _with_copies(part)
        copies += changes["row_number"].filter(pc.equal(changes["new"], 0)).chunks
        counted = changes.filter(changes["is_counted"])
        if counted.num_rows:
            table = _counts(counted)
            counts.append(table)
            twice = _doubly_ordered(counted)
            doubly |= {*twice}
            names = {*twice, *_irregular(table)}
            if names:
                odd.append(_odd_changes(counted, names))
        stretches.append(_stretches(changes))
    others = rows.filter(
        pc.invert(pc.is_in(kind, pa.array(["change", "quarantined", "tombstone", FOREIGN])))
    )
    if others.num_rows:
        stretches.append(_other_stretches(others))
    statements = rows.filter(
        pc.or_(pc.is_valid(rows["emptied_tables"]), pc.is_valid(rows["new_names"]))
    )
    if statements.num_rows:
        counts.append(_emptied(statements))
    markers = rows.filter(pc.equal(kind, "transaction_marker"))
    return Facts(
        Rows(Count._make, Count._fields, counts),
        Rows(Stretch._make, Stretch._fields, stretches),
        Rows(Marker._make, Marker._fields, [_markers(markers)]),
        [*_controls(rows, kind, is_unplaced)],
        [*chain.from_iterable(Rows(Change._make, Change._fields, [one]) for one in odd)],
        frozenset(doubly),
        ranges,
        frozenset(_places(rows.filter(pc.equal(kind, FOREIGN)))),
        Again(pa.concat_arrays(copies), repeats),
    )


def landed_readable(rows: pa.Table, wanted: Collection[Delivery]) -> set[Delivery]:
    """Those of some deliveries that have landed in a form that can be read and placed."""
    if not wanted:
        return set()
    offsets = pa.array(sorted({one[2] for one in wanted}), pa.int64())
    some = rows.filter(pc.and_not(pc.is_in(rows["offset"], offsets), _is_unplaced(rows)))
    return {*_values(some, ("topic", "partition", "offset"))} & {*wanted}


# --- rows


def _places(rows: pa.Table) -> set[TopicPartition]:
    """Partitions of which there are rows."""
    if not rows.num_rows:
        return set()
    keys = ["topic", "partition"]
    return {*_values(rows.group_by(keys, use_threads=False).aggregate([]), keys)}


def plain(column: Any) -> Any:
    """A column without codes."""
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    return column


def _values(rows: pa.Table, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    """Some columns, a tuple for each row."""
    return zip(*(plain(rows[one]).to_pylist() for one in names), strict=True)


def codes(column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """The texts of a column whose chunks have the same ones, and of each row its number in them."""
    chunks = column.chunks
    if not chunks:
        return pa.array([], pa.string()), pa.array([], pa.int32())
    # Arrow puts coded chunks together text by text, and takes minutes for a million rows.
    return chunks[0].dictionary, pa.concat_arrays([one.indices for one in chunks])


def counted_up(count: int) -> pa.Array:
    """The numbers from 0 on, so many."""
    return pa.array(range(count), pa.int64())


def _once(rows: pa.Table) -> tuple[pa.Table, pa.Array]:
    """Each delivery once: the first that can be read, else the first.

    Returns:
        The rows, and the numbers of those that came again. What could not be read at first, and can
        be now, has come for the first time.
    """
    keys = ("topic", "partition", "offset")
    order = pa.table({one: plain(rows[one]) for one in keys})
    is_lost = pc.cast(_is_unplaced(rows), pa.int8())
    order = order.append_column("is_lost", is_lost).append_column("row_number", rows["row_number"])
    order = order.sort_by([(one, "ascending") for one in order.column_names]).combine_chunks()
    last = order.num_rows - 1
    is_same = pc.and_(
        pc.and_(*(pc.equal(order[one].slice(1), order[one].slice(0, last)) for one in keys[:2])),
        pc.equal(order["offset"].slice(1), order["offset"].slice(0, last)),
    )
    is_again = pc.and_(
        is_same, pc.equal(order["is_lost"].slice(1), order["is_lost"].slice(0, last))
    )
    behind = order["row_number"].slice(1)
    dropped = behind.filter(is_same)
    kept = rows.filter(pc.invert(pc.is_in(rows["row_number"], dropped)))
    return kept, pa.concat_arrays([NO_ROWS, *behind.filter(is_again).chunks])


def _is_unplaced(rows: pa.Table) -> Any:
    """Whether a message may stand anywhere: it cannot be read, or it is a change of which nothing
    tells a transaction."""
    kind = plain(rows["kind"])
    is_nameless = pc.and_(pc.equal(kind, "change"), pc.is_null(rows["unit_kind"]))
    return pc.or_(pc.equal(kind, "quarantined"), is_nameless)


def _parts(rows: pa.Table, is_change: Any) -> Iterator[pa.Table]:
    """Changes, a part of the units at a time."""
    rows = rows.select([one for one in rows.column_names if one not in OF_NO_CHANGE])
    count = rows.num_rows // UNITS_AT_ONCE + 1
    unit = pc.fill_null(codes(rows["unit_id"])[1], 0).cast(pa.int64())
    rest = pc.subtract(unit, pc.multiply(pc.divide(unit, count), count))
    for at in range(count):
        part = rows.filter(pc.and_(is_change, pc.equal(rest, at)))
        if part.num_rows:
            yield part


def _flags(values: Any) -> Any:
    return pc.cast(values, pa.int64())


def _with_copies(changes: pa.Table) -> pa.Table:
    """Changes with what is first of copies, and whether copies agree (S1)."""
    is_copy, same_row, same = _copies(changes)
    is_new = pc.invert(pa.array(is_copy))
    operation = plain(changes["operation"])
    is_streamed = pc.is_null(changes["snapshot"])
    is_counted = pc.and_(is_streamed, pc.is_valid(changes["transaction_id"]))
    is_counted = pc.and_(is_counted, pc.is_valid(changes["data_collection"]))
    leaves = pc.and_(is_new, pc.and_(pc.equal(operation, "d"), changes["leaves_key"]))
    enters = pc.and_(is_new, pc.and_(pc.equal(operation, "c"), changes["enters_key"]))
    closes = pc.equal(plain(changes["signal_type"]), "snapshot-window-close")
    columns = {
        **{name: changes[name] for name in changes.column_names},
        # The least and the highest of coded texts are not known to Arrow.
        **{
            name: plain(changes[name])
            for name in (
                "connector",
                "commit_position",
                "log_position",
                "event_position",
                "database_name",
            )
        },
        "is_counted": is_counted,
        "new": _flags(is_new),
        "new_offset": pc.if_else(is_new, changes["offset"], pa.scalar(None, pa.int64())),
        "same": pa.array(same),
        "same_row": pa.array(same_row),
        "leaves": _flags(pc.fill_null(leaves, False)),
        "enters": _flags(pc.fill_null(enters, False)),
        "whole": pc.fill_null(changes["is_whole_transaction"], False),
        "block": pc.is_valid(changes["total_order"]),
        "closes": pc.fill_null(closes, False),
        "at": pc.fill_null(changes["committed_at_micros"], 0),
        "is_signal": pc.is_valid(changes["signal_type"]),
    }
    return pa.table(columns)


def _copies(changes: pa.Table) -> tuple[list[bool], list[bool], list[bool]]:
    """Of each change whether it is a copy, whether it has the row of the first copy, and that with
    its numbers. Only hashes that occur twice are looked at closely."""
    count = changes.num_rows
    is_copy, same_row, same = [False] * count, [True] * count, [True] * count
    keys = ["unit_kind", "unit_id", "event_position", "event_hash"]
    known = (
        changes.select([*keys, "offset"])
        .group_by(keys, use_threads=False)
        .aggregate([("offset", "count")])
    )
    if known.num_rows == count:
        return is_copy, same_row, same
    twice = known.filter(pc.greater(known["offset_count"], 1))["event_hash"]
    at = pc.indices_nonzero(pc.is_in(changes["event_hash"], value_set=pc.unique(twice))).to_pylist()
    some = changes.take(pa.array(at, pa.int64()))
    names = (*keys, "topic", "partition", "offset", "content_hash", "order_hash")
    rows = _values(some, names)
    heads: dict[tuple[object, ...], tuple[object, ...]] = {}
    for place, row in sorted(zip(at, rows, strict=True), key=lambda one: one[1][4:7]):
        first = heads.setdefault(row[:4], row)
        if first is not row:
            is_copy[place] = True
            same_row[place] = row[7] == first[7]
            same[place] = row[7:] == first[7:]
    return is_copy, same_row, same


# --- facts


def _counts(counted: pa.Table) -> pa.Table:
    known = counted.group_by(
        ["transaction_id", "data_collection", "previous_commit_position"], use_threads=False
    ).aggregate(
        [
            ("connector", "max"),
            ("commit_position", "max"),
            ("log_position", "max"),
            ("whole", "max"),
            ("block", "min"),
            ("new", "sum"),
            ("data_collection_order", "count_distinct"),
            ("data_collection_order", "min"),
            ("data_collection_order", "max"),
            ("same", "min"),
            ("leaves", "sum"),
            ("enters", "sum"),
            ("closes", "max"),
            ("event_position", "min"),
            ("event_position", "max"),
            ("at", "max"),
        ]
    )
    received = known["new_sum"]
    is_regular = pc.and_(
        pc.and_(
            pc.equal(known["data_collection_order_count_distinct"], received), known["block_min"]
        ),
        pc.and_(
            pc.equal(known["data_collection_order_min"], 1),
            pc.equal(known["data_collection_order_max"], received),
        ),
    )
    return pa.table(
        {
            "transaction_id": known["transaction_id"],
            "data_collection": known["data_collection"],
            "previous": known["previous_commit_position"],
            "connector": known["connector_max"],
            "commit_position": known["commit_position_max"],
            "log_position": known["log_position_max"],
            "is_whole": known["whole_max"],
            "has_block": known["block_min"],
            "received": received,
            "is_regular": pc.fill_null(is_regular, False),
            "copies_agree": known["same_min"],
            "key_leaves": known["leaves_sum"],
            "key_enters": known["enters_sum"],
            "closes_window": known["closes_max"],
            "first_place": known["event_position_min"],
            "last_place": known["event_position_max"],
            "committed_at": known["at_max"],
        }
    )


def _emptied(statements: pa.Table) -> pa.Table:
    """Statements of DDL that end the rows of tables, each as a TRUNCATE of its table is counted.
    What takes on a name that another table has left is no empty one."""
    names = (
        "transaction_id",
        "connector",
        "log_position",
        "event_position",
        "committed_at_micros",
        "emptied_tables",
    )
    taken: dict[str, set[str]] = defaultdict(set)
    for name, some in _values(statements, ("transaction_id", "new_names")):
        taken[name] |= {*(some or ())}
    counts = {
        (name, table): Count(
            name,
            table,
            connector,
            log_position=log_position,
            is_whole=True,
            first_place=place,
            last_place=place,
            committed_at=at or 0,
        )
        for name, connector, log_position, place, at, tables in _values(statements, names)
        for table in tables or ()
        if table not in taken[name]
    }
    arrays = {
        name: pa.array(
            [getattr(one, name) for one in counts.values()], COUNT_TYPES.get(name, pa.string())
        )
        for name in Count._fields
    }
    for name in ("transaction_id", "data_collection", "previous"):
        arrays[name] = arrays[name].dictionary_encode()
    return pa.table(arrays)


def _doubly_ordered(counted: pa.Table) -> list[str]:
    """Transactions in which two changes have one `total_order`."""
    firsts = counted.filter(pc.and_(pc.equal(counted["new"], 1), counted["block"]))
    orders = (
        firsts.select(["transaction_id", "total_order"])
        .group_by("transaction_id", use_threads=False)
        .aggregate([("total_order", "count_distinct"), ("total_order", "count")])
    )
    twice = pc.less(orders["total_order_count_distinct"], orders["total_order_count"])
    found: list[str] = plain(orders.filter(twice)["transaction_id"]).to_pylist()
    return found


def _irregular(counts: pa.Table) -> set[str]:
    """Transactions whose numbers, copies or predecessors are not what they ought to be."""
    is_odd = pc.invert(pc.and_(counts["is_regular"], counts["copies_agree"]))
    found = {*plain(counts.filter(is_odd)["transaction_id"]).to_pylist()}
    named = counts.select(["transaction_id", "previous"])
    several = (
        named.group_by(["transaction_id", "previous"], use_threads=False)
        .aggregate([])
        .group_by("transaction_id", use_threads=False)
        .aggregate([("transaction_id", "count")])
    )
    is_several = pc.greater(several["transaction_id_count"], 1)
    return found | {*plain(several.filter(is_several)["transaction_id"]).to_pylist()}


def _odd_changes(counted: pa.Table, names: Collection[str]) -> pa.Table:
    some = counted.filter(pc.is_in(plain(counted["transaction_id"]), pa.array(sorted(names))))
    keys = ["transaction_id", "data_collection", "event_position", "event_hash"]
    wanted = [*keys, "total_order", "data_collection_order", "same_row"]
    known = (
        pa.table({name: plain(some[name]) for name in wanted})
        .group_by(keys, use_threads=False)
        .aggregate(
            [
                ("total_order", "min"),
                ("total_order", "distinct"),
                ("data_collection_order", "distinct"),
                ("same_row", "min"),
            ]
        )
    )
    return pa.table(
        {
            "transaction_id": known["transaction_id"],
            "data_collection": known["data_collection"],
            "place": known["event_position"],
            "first_order": pc.fill_null(known["total_order_min"], 0),
            "total_orders": known["total_order_distinct"],
            "table_orders": known["data_collection_order_distinct"],
            "has_one_content": known["same_row_min"],
        }
    )


def _stretches(changes: pa.Table) -> pa.Table:
    keys = ["topic", "partition", "unit_kind", "unit_id", "data_collection"]
    known = changes.group_by([*keys, "previous_commit_position"], use_threads=False).aggregate(
        [
            ("connector", "max"),
            ("commit_position", "max"),
            ("offset", "min"),
            ("offset", "max"),
            ("new_offset", "min"),
            ("new_offset", "max"),
            ("new", "sum"),
            ("event_position", "min"),
            ("event_position", "max"),
            ("is_signal", "max"),
            ("database_name", "max"),
            ("at", "min"),
            ("at", "max"),
            ("landed_at_micros", "max"),
        ]
    )
    kinds = [STRETCH_KINDS.get(one, "change") for one in known["unit_kind"].to_pylist()]
    return pa.table(
        {
            "topic": known["topic"],
            "partition": known["partition"],
            "kind": pa.array(kinds, pa.string()).dictionary_encode(),
            "unit_id": known["unit_id"],
            "data_collection": known["data_collection"],
            "connector": known["connector_max"],
            "previous": known["previous_commit_position"],
            "commit_position": known["commit_position_max"],
            "first_offset": known["offset_min"],
            "last_offset": known["offset_max"],
            "first_new": known["new_offset_min"],
            "last_new": known["new_offset_max"],
            "new_count": known["new_sum"],
            "first_place": known["event_position_min"],
            "last_place": known["event_position_max"],
            "markers": _read_markers(changes, known, keys),
            "has_signals": known["is_signal_max"],
            "database": known["database_name_max"],
            "first_at": known["at_min"],
            "last_at": known["at_max"],
            "landed_at": known["landed_at_micros_max"],
        }
    )


def _read_markers(changes: pa.Table, known: pa.Table, keys: list[str]) -> Any:
    """What `source.snapshot` says of the reads of each stretch."""
    reads = changes.filter(pc.is_valid(changes["snapshot"]))
    texts = pa.list_(pa.string())
    if not reads.num_rows:
        return pa.array([[]] * known.num_rows, texts)
    known_reads = pa.table({one: plain(reads[one]) for one in (*keys, "snapshot")})
    said = known_reads.group_by(keys, use_threads=False).aggregate([("snapshot", "distinct")])
    found = dict(zip(_values(said, keys), said["snapshot_distinct"].to_pylist(), strict=True))
    return pa.array([found.get(one, []) for one in _values(known, keys)], texts)


def _other_stretches(others: pa.Table) -> pa.Table:
    """Messages that are no changes, which show that a partition has moved on."""
    keys = ["topic", "partition", "previous_commit_position"]
    # Rows of CDL's own tables are no changes, and stand in the log like some.
    is_beat = pc.equal(plain(others["kind"]), "heartbeat")
    place = pc.if_else(is_beat, plain(others["event_position"]), pa.scalar(None, pa.string()))
    known = (
        others.select([*keys, "offset"])
        .append_column("place", place)
        .group_by(keys, use_threads=False)
        .aggregate([("offset", "min"), ("offset", "max"), ("place", "min"), ("place", "max")])
    )
    count = known.num_rows
    zero = pa.array([0] * count, pa.int64())
    return pa.table(
        {
            **dict.fromkeys(Stretch._fields, pa.nulls(count)),
            **dict.fromkeys(("new_count", "first_at", "last_at"), zero),
            "topic": known["topic"],
            "partition": known["partition"],
            "kind": pa.array(["other"] * count, pa.string()).dictionary_encode(),
            "previous": known["previous_commit_position"],
            "first_offset": known["offset_min"],
            "last_offset": known["offset_max"],
            "first_new": known["offset_min"],
            "last_new": known["offset_max"],
            "first_place": known["place_min"],
            "last_place": known["place_max"],
            "has_signals": pa.array([False] * count),
        }
    )


def _markers(markers: pa.Table) -> pa.Table:
    return pa.table(
        {
            "topic": markers["topic"],
            "partition": markers["partition"],
            "offset": markers["offset"],
            "source": markers["source"],
            "database": markers["database_name"],
            "is_end": pc.equal(plain(markers["marker"]), "END"),
            "transaction_id": pc.fill_null(plain(markers["transaction_id"]), ""),
            "position": markers["commit_position"],
            "log_position": markers["log_position"],
            "event_count": pc.fill_null(markers["event_count"], 0),
            "counts": markers["collection_counts"],
            "committed_at": markers["committed_at_micros"],
        }
    )


def _controls(rows: pa.Table, kind: Any, is_unplaced: Any) -> Iterator[Control]:
    is_rare = pc.or_(pc.is_in(kind, RARE), pc.fill_null(rows["asks_blocking"], False))
    some = rows.filter(pc.or_(is_rare, is_unplaced))
    names = (
        "topic",
        "partition",
        "offset",
        "kind",
        "unit_kind",
        "connector",
        "transaction_id",
        "event_position",
        "previous_commit_position",
        "log_position",
        "committed_at_micros",
    )
    for topic, partition, offset, kind_of_message, unit_kind, *known in _values(some, names):
        said: Any = "signal"
        if kind_of_message == "quarantined":
            said = "unreadable"
        elif kind_of_message == "change" and unit_kind is None:
            said = "nameless"
        elif kind_of_message == "logical_message":
            said = "message" if known[1] is None else "connector"
        elif kind_of_message == "schema_change":
            said = "statement"
        yield Control(topic, partition, offset, said, *known)


def _ranges(rows: pa.Table) -> tuple[list[Range], bool]:
    """Runs of offsets without a gap, and whether one is there twice."""
    if not rows.num_rows:
        return [], False
    names = ("topic", "partition", "offset")
    topics, topic = codes(rows["topic"])
    # Codes are sorted in place of texts, which are longer.
    table = pa.table({"topic": topic, "partition": rows["partition"], "offset": rows["offset"]})
    table = table.sort_by([(one, "ascending") for one in names]).combine_chunks()
    topic, partition, offset = (table[one] for one in names)
    last = table.num_rows - 1
    is_other = pc.or_(
        pc.not_equal(topic.slice(1), topic.slice(0, last)),
        pc.not_equal(partition.slice(1), partition.slice(0, last)),
    )
    step = pc.subtract(offset.slice(1), offset.slice(0, last))
    is_repeat = pc.and_(pc.invert(is_other), pc.equal(step, 0))
    is_other = pc.or_(is_other, pc.greater(step, 1))
    ends = [*pc.indices_nonzero(is_other).to_pylist(), last]
    starts = [0, *(one + 1 for one in ends[:-1])]
    topic = topics.take(topic.take(starts))
    columns = topic, partition.take(starts), offset.take(starts), offset.take(ends)
    found = [Range(*one) for one in zip(*(one.to_pylist() for one in columns), strict=True)]
    return found, bool(pc.any(is_repeat).as_py())
