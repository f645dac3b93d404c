"""What became of each message of a run, counted by partition (P3). No message becomes an object.

A delivery that came again is a `duplicate`; of the others those of units that wait are `held`.
What is no change is `control`. Of changes, copies and those of late units are `duplicate`, those of
discarded units `quarantined`, those that a snapshot or a later change of the same commit has
replaced `superseded`, and all others `applied`.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # ships no types

from dbt_debezium.evidence.facts import Again
from dbt_debezium.evidence.groups import FOREIGN, codes, counted_up, plain
from dbt_debezium.evidence.verdicts import UnitVerdict

OUTCOMES: Final = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int64(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("message_count", pa.int64(), nullable=False),
    ]
)
DUPLICATE: Final = pa.scalar("duplicate")
IN_ORDER: Final = (
    "is_streamed",
    "order",
    "event_position",
    "is_no_delete",
    "total_order",
    "topic",
    "partition",
    "offset",
)
"""By which changes of a commit are ordered that counters do not order, as `int_change` does: the
reads of a window first, then by place, at one place what goes before what comes."""


def outcome_counts(
    rows: pa.Table,
    again: Again,
    verdicts: Iterable[UnitVerdict],
    waiting: Collection[tuple[str, str]],
) -> pa.Table:
    """How many messages of each partition have which outcome; those of other sources are left out.

    Args:
        rows: that the run was given, coded.
        again: which of them are copies, and which came again.
        verdicts: on the units of the run.
        waiting: kinds and ids of units that stay open.
    """
    if not rows.num_rows:
        return OUTCOMES.empty_table()
    known = _Verdicts(verdicts, waiting)
    found = known.on(rows)
    kind = _texts(rows["kind"])
    at = counted_up(rows.num_rows)
    is_change = pc.equal(kind, "change")
    is_copy, is_repeat = pc.is_in(at, again.copies), pc.is_in(at, again.repeats)
    is_lost = pc.and_(is_change, pc.is_null(rows["unit_id"]))
    is_committed = pc.and_(is_change, pc.equal(found["verdict"], "commit"))
    is_new = pc.and_not(is_committed, pc.or_(is_copy, is_repeat))
    is_replaced = pc.is_in(at, _replaced(rows, at, found, is_new))
    # The first condition that is true decides.
    outcome = pc.case_when(
        pc.make_struct(
            is_repeat,
            pc.is_in(kind, pa.array(["quarantined", "tombstone"])),
            pc.or_(found["is_waiting"], is_lost),
            pc.invert(is_change),
            pc.or_(is_copy, pc.equal(found["verdict"], "late")),
            pc.equal(found["verdict"], "discarded"),
            pc.or_(is_replaced, pc.not_equal(found["verdict"], "commit")),
        ),
        DUPLICATE,
        kind,
        pa.scalar("held"),
        pa.scalar("control"),
        DUPLICATE,
        pa.scalar("quarantined"),
        pa.scalar("superseded"),
        pa.scalar("applied"),
    )
    is_of_another = pc.equal(plain(rows["unit_kind"]), FOREIGN)
    is_own = pc.and_not(pc.not_equal(kind, FOREIGN), pc.fill_null(is_of_another, False))
    counts = (
        pa.table({"topic": rows["topic"], "partition": rows["partition"], "outcome": outcome})
        .filter(is_own)
        .group_by(["topic", "partition", "outcome"], use_threads=False)
        .aggregate([([], "count_all")])
        .rename_columns(OUTCOMES.names)
    )
    return pa.table({one: plain(counts[one]) for one in OUTCOMES.names}, schema=OUTCOMES).sort_by(
        [(one, "ascending") for one in OUTCOMES.names[:3]]
    )


def _texts(column: pa.ChunkedArray) -> pa.Array:
    texts, of_row = codes(column)
    return texts.take(of_row)


class _Verdicts:
    """Verdicts as columns, by unit."""

    def __init__(
        self, verdicts: Iterable[UnitVerdict], waiting: Collection[tuple[str, str]]
    ) -> None:
        found: dict[tuple[str, str], tuple[str, int | None, bool, bool]] = {}
        for one in verdicts:
            key: tuple[str, str] = (one.unit_kind, one.unit_id)
            number = one.commit_number if one.verdict == "commit" else None
            found.setdefault(key, (one.verdict, number, one.has_reset_counters, key in waiting))
        for key in waiting:
            found.setdefault(key, ("hold", None, False, True))
        columns: list[tuple[Any, ...]] = [*zip(*found.values(), strict=True)] or [()] * 4
        self._ids: dict[str, list[str]] = {}
        self._at: dict[str, list[int]] = {}
        for at, (kind, name) in enumerate(found):
            self._ids.setdefault(kind, []).append(name)
            self._at.setdefault(kind, []).append(at)
        self._columns = {
            "verdict": pa.array(columns[0], pa.string()),
            "commit_number": pa.array(columns[1], pa.int64()),
            "has_reset_counters": pa.array(columns[2], pa.bool_()),
            "is_waiting": pa.array(columns[3], pa.bool_()),
        }

    def on(self, rows: pa.Table) -> dict[str, Any]:
        """Of each row the verdict on its unit; '' and null where there is none."""
        kinds, kind_of_row = codes(rows["unit_kind"])
        names, name_of_row = codes(rows["unit_id"])
        place = pa.nulls(rows.num_rows, pa.int64())
        for kind, ids in self._ids.items():
            # Each text is looked up once, however many rows have it.
            of_text = pc.index_in(names, value_set=pa.array(ids, pa.string()))
            of_text = pa.array(self._at[kind], pa.int64()).take(of_text)
            is_kind = pc.equal(kinds, kind).take(kind_of_row)
            place = pc.if_else(is_kind, of_text.take(name_of_row), place)
        found = {name: column.take(place) for name, column in self._columns.items()}
        return {
            "verdict": pc.fill_null(found["verdict"], ""),
            "commit_number": found["commit_number"],
            "has_reset_counters": pc.fill_null(found["has_reset_counters"], False),
            "is_waiting": pc.fill_null(found["is_waiting"], False),
        }


def _replaced(rows: pa.Table, at: Any, found: dict[str, Any], is_new: Any) -> pa.Array:
    """Rows that a later change of the same row, or a TRUNCATE, in the same commit replaces."""
    operation = plain(rows["operation"])
    is_truncate = pc.fill_null(pc.and_(is_new, pc.equal(operation, "t")), False)
    keys = pa.table({"commit": found["commit_number"], "row": rows["row_hash"], "at": at}).filter(
        pc.and_(is_new, pc.is_valid(rows["row_hash"]))
    )
    several = keys.group_by(["commit", "row"], use_threads=False).aggregate([([], "count_all")])
    several = several.filter(pc.greater(several["count_all"], 1))
    truncated = pc.unique(found["commit_number"].filter(is_truncate))
    wanted = pc.and_(
        is_new,
        pc.or_(
            pc.is_in(rows["row_hash"], pc.unique(several["row"])),
            pc.is_in(found["commit_number"], truncated),
        ),
    )
    wanted = pc.fill_null(wanted, False)
    some = rows.filter(wanted)
    if not some.num_rows:
        return pa.array([], pa.int64())
    is_streamed = pc.is_null(some["snapshot"])
    number, is_reset = (
        found[one].filter(wanted) for one in ("commit_number", "has_reset_counters")
    )
    is_ordered = pc.and_(is_streamed, pc.and_not(pc.is_valid(some["total_order"]), is_reset))
    changes = pa.table(
        {
            "commit": number,
            "row": some["row_hash"],
            "table": plain(some["data_collection"]),
            "at": at.filter(wanted),
            "is_truncate": is_truncate.filter(wanted),
            "is_streamed": pc.cast(
                pc.or_(is_streamed, pc.not_equal(plain(some["snapshot"]), "incremental")),
                pa.int8(),
            ),
            "order": pc.if_else(is_ordered, some["total_order"], 0),
            "event_position": plain(some["event_position"]),
            "is_no_delete": pc.cast(pc.not_equal(plain(some["operation"]), "d"), pa.int8()),
            "total_order": some["total_order"],
            "topic": plain(some["topic"]),
            "partition": some["partition"],
            "offset": some["offset"],
        }
    )
    hidden = [_all_but_the_last(changes.filter(pc.is_valid(changes["row"])))]
    if len(truncated):
        hidden.append(_in_front_of_a_truncate(changes))
    return pa.concat_arrays(hidden)


def _sorted(changes: pa.Table, *keys: str) -> pa.Table:
    names = [(one, "ascending") for one in (*keys, *IN_ORDER)]
    return changes.sort_by(names).combine_chunks()


def _all_but_the_last(changes: pa.Table) -> pa.Array:
    """Of the changes of each row in a commit."""
    known = _sorted(changes, "commit", "row")
    last = max(known.num_rows - 1, 0)
    is_same = pc.and_(
        *(pc.equal(known[one].slice(1), known[one].slice(0, last)) for one in ("commit", "row"))
    )
    return known["at"].slice(0, last).filter(is_same).combine_chunks()


def _in_front_of_a_truncate(changes: pa.Table) -> pa.Array:
    known = _sorted(changes, "commit", "table")
    known = known.append_column("place", counted_up(known.num_rows))
    last = (
        known.filter(known["is_truncate"])
        .group_by(["commit", "table"], use_threads=False)
        .aggregate([("place", "max")])
    )
    both = known.select(["commit", "table", "at", "place"]).join(
        last, ["commit", "table"], join_type="inner", use_threads=False
    )
    return both.filter(pc.less(both["place"], both["place_max"]))["at"].combine_chunks()
