"""Marks: what has landed of one source, as far as the judge must know it. No rows, no messages.

Each has a `kind` and the fields of its class below. A field that two kinds share means the same in
both. Marks come in this order:

1. facts of the whole source: `source`, `partition`, `range`, `unreadable`, `window`,
   `unlanded_table`, `snapshot_table`, `snapshot_partition`, `log_range`, `unfinished`, `decision`,
   `missing_row`, in any order;
2. links of the chain, by `place_of`: those without a position come last.

Positions of one source have one width, so they compare as text. The position of a transaction is
where the source committed it (S2). Marks are given again in each run until their transaction or
snapshot is published, or a later snapshot.
"""

from typing import Final, TypeAlias, get_args

from dbt_debezium.judge.facts import (
    Decision,
    Fact,
    LogRange,
    MissingRow,
    Partition,
    Range,
    SnapshotPartition,
    SnapshotTable,
    Source,
    Unfinished,
    UnlandedTable,
    Unreadable,
    Window,
)
from dbt_debezium.judge.links import (
    Begin,
    BlockingSnapshot,
    End,
    Event,
    Link,
    Message,
    Snapshot,
    Table,
    TransactionMark,
    Truncate,
    Uncounted,
    Unplaced,
)

__all__ = [
    "LINK_KINDS",
    "Begin",
    "BlockingSnapshot",
    "Decision",
    "End",
    "Event",
    "Fact",
    "Link",
    "LogRange",
    "Mark",
    "Message",
    "MissingRow",
    "Partition",
    "Range",
    "Snapshot",
    "SnapshotPartition",
    "SnapshotTable",
    "Source",
    "Table",
    "TransactionMark",
    "Truncate",
    "Uncounted",
    "Unfinished",
    "UnlandedTable",
    "Unplaced",
    "Unreadable",
    "Window",
    "place_of",
]

Mark: TypeAlias = Fact | Link

LINK_KINDS: Final = frozenset(one.kind for one in get_args(Link))


def place_of(link: Link) -> tuple[bool, str, int, str]:
    """Where a link stands in the order of marks.

    Where a commit ends the next record can begin: at one position come a transaction, a message
    behind it, an initial snapshot, a blocking one, and a message that names no commit, since it is
    the first of a stream.

    >>> place_of(Snapshot("0042")) < place_of(Message("0042", None))
    True
    """
    match link:
        case Message():
            order, transaction_id = 1 if link.previous_position is not None else 4, ""
        case Snapshot():
            order, transaction_id = 2, ""
        case BlockingSnapshot():
            order, transaction_id = 3, link.snapshot_position
        case _:
            order, transaction_id = 0, link.transaction_id
    return link.position is None, link.position or "", order, transaction_id
