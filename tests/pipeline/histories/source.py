"""The source database's log: transactions in commit order, their records interleaved.

An LSN is a place in the write-ahead log. An event's is where its record begins, an END's where the
commit record ends, which is where the next record begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from histories.db2_log import as_read
from histories.knobs import Knobs
from histories.mysql_log import BinaryLog
from histories.plan import SIGNAL, TABLES, Event, Row, Transaction
from histories.workload import Draft, Statement, Workload

Anew = Literal["no", "kept_slot", "lost_slot", "lost_offsets"]
Task = Literal["any", "changing", "touch", "window", "empty", "message", "truncate"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the log: what happens in it, and whether the connector runs."""

    tasks: list[Task]
    is_streamed: bool
    snapshot: Literal["none", "whole", "interrupted"] = "none"
    """What is read when it begins."""
    anew: Anew = "no"
    """Why a stream begins that no snapshot stands before. All but a kept slot lose what was not
    sent; all but a lost slot forget what the stream before them sent."""


@dataclass(slots=True)
class Source:
    """All that was committed, in commit order."""

    transactions: list[Transaction] = field(default_factory=list)
    statements: list[list[Statement]] = field(default_factory=list)
    bank_totals: list[int] = field(default_factory=list)
    rows_before: list[dict[str, list[Row]]] = field(default_factory=list)
    """The tables before each transaction; one more at the end."""
    windows: set[int] = field(default_factory=set)
    """Transactions that close the window of an incremental snapshot."""


def draw_segments(rng: Random, knobs: Knobs) -> list[Segment]:
    """What the connector does while the database goes on."""
    segments: list[Segment] = []
    snapshot = rng.random() < knobs.snapshot
    if snapshot:
        segments.append(Segment(["any"] * rng.randint(1, 4), is_streamed=False))
        if rng.random() < knobs.interrupted_snapshot:
            segments.append(Segment(_unseen_tasks(rng), False, "interrupted"))
    segments.append(Segment(_streamed_tasks(rng, knobs), True, "whole" if snapshot else "none"))
    segments += _streams_anew(rng, knobs)
    while rng.random() < knobs.later_epoch and len(segments) < 7:
        segments.append(Segment(_unseen_tasks(rng), is_streamed=False))
        # An END without events would link to the epoch before: nothing says that a new one began.
        segments.append(Segment(["changing", *_streamed_tasks(rng, knobs)], True, "whole"))
        segments += _streams_anew(rng, knobs)
    return segments


def _streams_anew(rng: Random, knobs: Knobs) -> list[Segment]:
    if not knobs.begin_anew or rng.random() >= knobs.begin_anew:
        return []
    reasons: tuple[Anew, ...] = ("kept_slot", "lost_slot", "lost_offsets")
    anew = rng.choice(reasons)
    # As an END without events would link to the stream before it.
    tasks: list[Task] = ["changing", *_streamed_tasks(rng, knobs)]
    return [Segment(_unseen_tasks(rng), is_streamed=False), Segment(tasks, True, anew=anew)]


def _unseen_tasks(rng: Random) -> list[Task]:
    """What happens before the next snapshot: it finds a row in each table.

    Of a table that is empty then, there is no read, and S5 keeps its old rows.
    """
    tasks: list[Task] = ["any"] * rng.randint(0, 2)
    return [*tasks, "changing"]


def _streamed_tasks(rng: Random, knobs: Knobs) -> list[Task]:
    tasks: list[Task] = []
    for _ in range(knobs.transaction_count):
        tasks.append("empty" if rng.random() < knobs.empty else "any")
        if rng.random() < knobs.loose_message:
            tasks.append("message")
        if rng.random() < knobs.window:
            tasks.append("window")
        if knobs.truncate_alone and rng.random() < knobs.truncate_alone:
            tasks.append("truncate")
    if rng.random() < knobs.last_touch:
        tasks.append("touch")
    return tasks


def commit_all(rng: Random, knobs: Knobs, tasks: Sequence[Task]) -> Source:
    """Write transactions, up to `concurrency` of them open at once."""
    source = Source()
    work = Workload(rng, knobs)
    lsn, transaction_id = rng.randrange(10_000_000, 40_000_000, 8), rng.randint(700, 9000)
    log = BinaryLog(rng, knobs) if knobs.connector == "mysql" else None
    waiting = list(tasks)
    while waiting:
        count = rng.randint(1, knobs.concurrency)
        group, waiting = waiting[:count], waiting[count:]
        first = len(source.transactions)
        drafts = [_draft(rng, work, source, task) for task in group]
        if rng.random() < knobs.rollback:
            transaction_id += 1
            lsn += 8 * rng.randint(5, 30)
        group_transactions = source.transactions[first:]
        if log is not None:
            for number, (transaction, draft) in enumerate(
                zip(group_transactions, drafts, strict=True), start=transaction_id
            ):
                transaction.id = None if transaction.id is None else number
                log.append(transaction, draft.records)
        else:
            lsn = _place(rng, group_transactions, drafts, lsn, transaction_id)
        for transaction in group_transactions:
            if knobs.connector == "db2":
                transaction.events = as_read(transaction.events)
            if knobs.shuffled_lsns and rng.random() < knobs.shuffled_lsns:
                _shuffle(rng, transaction)
        transaction_id += len(group) + rng.randint(0, 1)
    source.rows_before.append({table: _copied(work.rows(table)) for table in TABLES})
    return source


def _copied(rows: list[Row]) -> list[Row]:
    return [dict(row) for row in rows]


def _draft(rng: Random, work: Workload, source: Source, task: Task) -> Draft:
    source.rows_before.append({table: _copied(work.rows(table)) for table in TABLES})
    draft = Draft(bank_total=work.bank_total)
    if task == "any":
        draft = work.transaction()
    elif task == "touch":
        draft = work.touch(rng.randint(3, 7))
    elif task == "changing":
        draft = work.touch(1)
    elif task == "truncate":
        draft = work.truncate()
    elif task == "window":
        number = len(source.transactions)
        row: Row = {"id": f"{number}-close", "type": "snapshot-window-close", "data": None}
        draft.records.append([Event(SIGNAL, "c", key={"id": row["id"]}, after=row)])
        source.windows.add(number)
    events = [event for record in draft.records for event in record]
    source.transactions.append(Transaction(None if task == "message" else 0, events))
    source.statements.append(draft.statements)
    source.bank_totals.append(draft.bank_total)
    return draft


def _shuffle(rng: Random, transaction: Transaction) -> None:
    """SQL Server orders changes by their command, to which `__$seqval` need not keep."""
    lsns = list(dict.fromkeys(event.lsn for event in transaction.events))
    shuffled = dict(zip(lsns, rng.sample(lsns, len(lsns)), strict=True))
    for event in transaction.events:
        event.lsn = shuffled[event.lsn]


def _place(
    rng: Random, transactions: list[Transaction], drafts: list[Draft], lsn: int, transaction_id: int
) -> int:
    """Give the transactions of a group their LSNs and ids. Returns the end of the log."""
    left = [list(draft.records) for draft in drafts]
    started: set[int] = set()
    committed = 0
    while committed < len(transactions):
        # Usually the one that commits first writes, so that not all are open to the end.
        can_write = [number for number in range(committed, len(left)) if left[number]]
        number = committed if rng.random() < 0.4 else rng.choice([committed, *can_write])
        transaction = transactions[number]
        if transaction.id is not None and number not in started:
            transaction.id = transaction_id + len(started)
            transaction.begin_lsn = lsn
            started.add(number)
        if transaction.id is None:
            transaction.end_lsn = lsn
            lsn += 8 * rng.randint(5, 20)
            committed += 1
        elif left[number]:
            for event in left[number].pop(0):
                event.lsn = lsn
            lsn += 8 * rng.randint(5, 20)
        else:
            if not transaction.events:
                lsn += 8 * rng.randint(5, 20)  # what it did to tables that are not captured
            lsn += 8 * rng.randint(4, 8)
            transaction.end_lsn = lsn
            committed += 1
            if rng.random() < 0.5:
                lsn += 8 * rng.randint(5, 50)
    return lsn
