"""What became of each message of a run, counted by partition (P3). No message becomes an object.

A delivery that came again is a `duplicate`; of the others those of units that wait are `held`.
What is no change is `control`. Of changes, copies and those of late units are `duplicate`, those of
discarded units `quarantined`, those that a snapshot has replaced `superseded`, and all others
`applied`, also where a later change of the same commit hides them: `message_count` tells those.
"""

from collections import defaultdict
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
    verdict, is_waiting = _said(rows, verdicts, waiting)
    kind = _texts(rows["kind"])
    at = counted_up(rows.num_rows)
    is_change = pc.equal(kind, "change")
    is_copy, is_repeat = pc.is_in(at, again.copies), pc.is_in(at, again.repeats)
    is_lost = pc.and_(is_change, pc.is_null(rows["unit_id"]))
    # The first condition that is true decides.
    outcome = pc.case_when(
        pc.make_struct(
            is_repeat,
            pc.is_in(kind, pa.array(["quarantined", "tombstone"])),
            pc.or_(is_waiting, is_lost),
            pc.invert(is_change),
            pc.or_(is_copy, pc.equal(verdict, "late")),
            pc.equal(verdict, "discarded"),
            pc.not_equal(verdict, "commit"),
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


def _said(
    rows: pa.Table, verdicts: Iterable[UnitVerdict], waiting: Collection[tuple[str, str]]
) -> tuple[Any, Any]:
    """Of each row the verdict on its unit, '' where there is none, and whether the unit waits."""
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for one in verdicts:
        key: tuple[str, str] = (one.unit_kind, one.unit_id)
        found.setdefault(key, (one.verdict, key in waiting))
    for key in waiting:
        found.setdefault(key, ("hold", True))
    at_of: dict[str, dict[str, int]] = defaultdict(dict)
    for at, (kind, name) in enumerate(found):
        at_of[kind][name] = at
    kinds, kind_of_row = codes(rows["unit_kind"])
    names, name_of_row = codes(rows["unit_id"])
    place = pa.nulls(rows.num_rows, pa.int64())
    for kind, some in at_of.items():
        # Each text is looked up once, however many rows have it.
        of_text = pc.index_in(names, value_set=pa.array([*some], pa.string()))
        of_text = pa.array([*some.values()], pa.int64()).take(of_text)
        is_kind = pc.equal(kinds, kind).take(kind_of_row)
        place = pc.if_else(is_kind, of_text.take(name_of_row), place)
    verdict = pa.array([one for one, _ in found.values()], pa.string()).take(place)
    is_waiting = pa.array([one for _, one in found.values()], pa.bool_()).take(place)
    return pc.fill_null(verdict, ""), pc.fill_null(is_waiting, False)
