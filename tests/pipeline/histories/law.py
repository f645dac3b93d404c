"""How far the tables may be shown after a landing, by who knows which message is which.

The rules, where `semantics.md` leaves a choice. *Table topics* are those of tables that land (the
signal table too: its rows are counted like others); *later* is in the order of offsets.

Snapshot (S4, S5). Proven when a read marked `last` landed, and one marked `first` or the only one
of its table; each table of which reads landed has one marked as its last (or a single one marked
`first`); partitions 0 to the highest landed one of each topic with reads landed; in each landed
partition of the four tables a message of the epoch's stream lands after the epoch's reads there;
and no garbage stands before that, as it may be a read. A signal table of which only garbage landed
looks like another table. Nor is it while an END that landed, of the epoch or a later one, counts
changes of a table of which nothing has landed. In the first epoch that shows itself a
partition without reads need not go on, and any message that is no read is of its stream. A
tombstone never is, as it says nothing that its delete does not say. Later, a message is of the
epoch's stream when it comes after a read of the epoch in its partition, or is a change with an LSN
above the snapshot's; without a read of the epoch, a read of a later one will do. An interrupted
snapshot is an epoch without a `last` read.

Complete (S13). An identity is the event; of a keyless table the event with its `total_order`.
(i) For each table that lands the distinct identities are as many as END says, their
`data_collection_order` is exactly 1 to that number, and copies agree in both orders. If a BEGIN
follows another without an END between them, by partition and offset, that is proof only with what
`Plan.second_begin` asks for.
(ii) Over the whole transaction, by `total_order`: n identities received, e is END's event_count,
k = n - e > 0, R the rank by (lsn, total_order). Each copy carries R or R - k, rank R up to k has a
copy with R, the others one with R - k, one event has both.
(iii) By table and `data_collection_order`, with n, e, k and R of the table and k >= 0, as (ii)
without the event that has both, and every partition is past the transaction: each partition in
which a change landed holds one with `sequence[0]` at or after its END; and no message that cannot
be read may be of it: each stands behind a change that names a later predecessor, or the next change
behind it that is no copy names an earlier one.

Link (S14). In PostgreSQL with changes received: their `sequence[0]` is END's LSN of the transaction
before (null at the start of an epoch), or the LSN of a landed message outside of transactions that
follows it likewise. Otherwise, and behind such a message that names itself as the one before:
offsets of markers run without a hole from an END of the one before (from 0 in the first epoch
that streams) to an END of this one, as a restart sends both again. Those of another database count
like others: what lies between two ENDs is known. Where the transaction topic has several
partitions, in each of them two markers without a hole between them, or its beginning and a marker,
stand around the END: the first ends before it, the second not. A marker ends where END says, so
one of a transaction without END shows nothing.

SQL Server and Db2. A partition is past a transaction when it holds a change of a later one: what
is sent is in the order of commits. BEGIN of SQL Server names no database, so a second one may be
another's, and asks for nothing. The last transaction has no END, and waits for the next.

Whose BEGIN and END are, changes tell: before one of the source has landed, nothing is shown.

MySQL and CDL. What else is known of their transactions, `mysql_law` and `cdl_law` say.

Window (S6). END does not count its reads: the transaction that closes one is held until each
partition of the topics in which reads of any window landed, at least one, is past it, and no
message that cannot be read may be of it; a number below them of which nothing landed is one too.
That a table is read at all, only its reads tell: nothing tells that the first of them are missing.

Where no read has landed nor anything is shown, a message that cannot be read may be one of a first
snapshot if it stands before all changes of its partition. Nothing is shown then, unless END counts
the first transaction and no change of the message's topic was ever read.

The cut is the longest such prefix of the last epoch whose base is proven. It never goes back, and
what was shown stays proven: a BEGIN that comes again later does not ask for more.
Numbers of commits are expected in the first epoch that streams; later they depend on how much of
the epoch before was shown.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise, product
from sys import maxsize

from histories.cdl_law import CdlArrived, commit_position
from histories.gaps import gaps
from histories.log_sequence import commit_lsn
from histories.mysql_law import NOWHERE, MysqlArrived
from histories.mysql_log import is_truncate, transaction_id
from histories.plan import (
    LANDED_TABLES,
    SIGNAL,
    TABLES,
    Entry,
    Epoch,
    Plan,
    Transaction,
    counters,
)

CHANGES = ("event", "read", "window_read")
Orders = tuple[int, int]
"""total_order, data_collection_order."""


class UnsoundError(Exception):
    """The rules prove what is not so."""


class TracelessError(UnsoundError):
    """They do so since what is missing leaves no trace, as its partition or kind is new."""


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    epoch: int
    count: int
    """Transactions of the epoch in it; 0 is its snapshot."""


@dataclass(frozen=True, slots=True)
class ExpectedCut:
    """What readers may see."""

    cut: Cut
    commit_number: int | None
    """None where it is not determined."""
    commit_position: str | None
    """None for a snapshot."""
    transaction_id: str | None
    proof: str = "counted"


def expected_cuts(plan: Plan) -> list[ExpectedCut | None]:
    """After each landing the largest cut that can be proven; None before the first.

    Raises:
        UnsoundError: the rules would show a state that the source never had.
    """
    offsets, previous = plan.offsets(), plan.previous_lsns()
    cuts: list[ExpectedCut | None] = []
    best: Cut | None = None
    for landing in range(plan.landing_count):
        found = Arrived(plan, offsets, previous, landing).cut(best)
        best = max(filter(None, (best, found)), default=None)
        if best:
            _check_windows(plan, best, landing)
        cuts.append(_described(plan, best) if best else None)
    return cuts


def _check_windows(plan: Plan, cut: Cut, landing: int) -> None:
    """That the reads of each window in the cut have landed, each in one copy at least."""
    shown = {*_shown_transactions(plan, cut)}
    reads = [
        entry
        for entry in plan.entries
        if entry.transaction in shown and entry.event is None and entry.row is not None
    ]
    landed = [one for one in reads if one.landing is not None and one.landing <= landing]
    readable = [(one.topic, one.row) for one in landed if one.kind == "window_read"]
    for read in reads:
        if (read.topic, read.row) not in readable:
            error = UnsoundError if read in landed else TracelessError
            raise error(f"{plan.name}: a read of window {read.transaction} is missing")


def _shown_transactions(plan: Plan, cut: Cut) -> list[int]:
    """Numbers of the epoch's transactions in the cut, without messages between them."""
    chain = plan.epochs[cut.epoch].chain
    return [number for number in chain if plan.transactions[number].id is not None][: cut.count]


def _described(plan: Plan, cut: Cut) -> ExpectedCut:
    epoch = plan.epochs[cut.epoch]
    shown = _shown_transactions(plan, cut)
    last = plan.transactions[shown[-1]] if shown else None
    is_first = not any(earlier.chain for earlier in plan.epochs[: cut.epoch])
    position = last_id = None
    if last and plan.connector == "postgresql":
        position, last_id = str(last.end_lsn), str(last.id)
    elif last and plan.connector == "mysql":
        last_id = transaction_id(last)  # its position is an offset that no commit has
    elif last and plan.connector == "cdl":
        position, last_id = commit_position(plan, epoch.chain[cut.count - 1]), str(last.id)
    elif last:
        position = last_id = commit_lsn(last)
    return ExpectedCut(
        cut,
        cut.count + (epoch.snapshot_lsn is not None) if is_first else None,
        position,
        last_id,
        plan.proof,
    )


class Arrived:
    """What has landed of a source up to some landing."""

    def __init__(
        self,
        plan: Plan,
        offsets: list[int],
        previous: dict[int, int | None],
        landing: int,
    ) -> None:
        self.plan = plan
        self.previous = previous
        self.markers: dict[int, set[tuple[int, int, str]]] = defaultdict(set)
        """Of each transaction the partition, offset and kind of those that landed."""
        self.ends: dict[int, set[int]] = defaultdict(set)
        """Of each transaction from which event its ENDs count."""
        self.end_offsets: dict[int, set[int]] = defaultdict(set)
        self.marker_offsets: set[int] = set()
        self.marker_partitions: set[int] = set()
        self.copies: dict[int, dict[int, set[Orders]]] = defaultdict(lambda: defaultdict(set))
        """Of each transaction, by event, the orders that its copies carry."""
        self.messages: set[int] = set()
        self.partitions: dict[tuple[str, int], list[Entry]] = defaultdict(list)
        """Of table topics."""
        self.read_epochs: set[int] = set()
        self.has_changes = False
        for entry, offset in zip(plan.entries, offsets, strict=True):
            if entry.landing is None or entry.landing > landing:
                continue
            if entry.kind == "read":
                self.read_epochs.add(entry.epoch)
            self.has_changes |= entry.kind in CHANGES
            if entry.topic in LANDED_TABLES:
                self.partitions[entry.topic, entry.partition].append(entry)
            if entry.topic == "transaction":
                self.marker_partitions.add(entry.partition)
            self._count(entry, offset)
        self.mysql = self._mysql(offsets, landing)
        self.cdl: CdlArrived | None = None
        if plan.connector == "cdl":
            landed = (
                (entry, offset)
                for entry, offset in zip(plan.entries, offsets, strict=True)
                if entry.landing is not None and entry.landing <= landing
            )
            self.cdl = CdlArrived(plan, list(landed))
        self.past = self._past()
        self.gaps = list(gaps(self.partitions, self._entry_place, -1, maxsize))
        self.past_windows = self._past_windows()

    def _count(self, entry: Entry, offset: int) -> None:
        number = entry.transaction
        if number is None or entry.kind in ("garbage", "tombstone", "window_read"):
            return
        if entry.kind == "ddl":
            return
        if entry.topic == "transaction":
            self.marker_offsets.add(offset)
            self.markers[number].add((entry.partition, offset, entry.kind))
        if entry.kind == "end":
            self.ends[number].add(entry.counted_from)
            known = self.end_offsets[number] | {offset}
            # The first END's offset is the place of a transaction of MySQL.
            self.end_offsets[number] = {min(known)} if self.plan.connector == "mysql" else known
        elif entry.kind == "message":
            self.messages.add(number)
        elif entry.kind == "event" and entry.event is not None and entry.topic in LANDED_TABLES:
            orders = counters(self.plan.transactions[number], entry.counted_from)
            self.copies[number][entry.event].add(orders[entry.event - entry.counted_from])

    def _mysql(self, offsets: list[int], landing: int) -> MysqlArrived | None:
        if self.plan.connector != "mysql":
            return None
        mysql = MysqlArrived(self.plan, self.partitions)
        for entry, offset in zip(self.plan.entries, offsets, strict=True):
            if entry.landing is not None and entry.landing <= landing:
                mysql.count(entry, offset)
        return mysql

    def _is_past(self, number: int) -> bool:
        """Whether each partition with changes is past a transaction."""
        if self.mysql:
            return self.mysql.is_past(number)
        return self.past >= self.plan.transactions[number].end_lsn

    def _is_seen_whole(self, number: int) -> bool:
        """Whether all that was sent of a transaction has landed, and can be read."""
        return self._is_past(number) and not self._may_lack_a_message(number)

    def _has_whole_window(self, number: int) -> bool:
        is_past = self.past_windows >= self.plan.transactions[number].end_lsn
        return is_past and not self._may_lack_a_message(number)

    def _may_lack_a_message(self, number: int) -> bool:
        """Whether a message that cannot be read may be one of the transaction."""
        if self.mysql:
            return self.mysql.may_lack_a_message(number)
        end = self.plan.transactions[number].end_lsn
        if self.plan.connector != "postgresql":
            has_changes = bool(self.copies.get(number))
            return has_changes and any(after <= end <= before for after, before in self.gaps)
        # A message names the end of the transaction before its own.
        here = self._place(number) if self.copies.get(number) else end
        return any(after < end and here <= before for after, before in self.gaps)

    def _entry_place(self, entry: Entry) -> int | None:
        if entry.kind in ("event", "window_read") and entry.transaction is not None:
            place = self._place(entry.transaction)
            return place if place >= 0 else None
        is_read = entry.kind == "read" and self.plan.connector != "postgresql"
        return self.plan.epochs[entry.epoch].snapshot_lsn if is_read else None

    def _place(self, number: int) -> int:
        """Where it stands among the others: PostgreSQL names the end of the one before it."""
        if self.plan.connector != "postgresql":
            return self.plan.transactions[number].end_lsn
        before = self.previous[number]
        return -1 if before is None else before

    def _past(self) -> int:
        """The highest LSN that every partition with changes is past."""
        reached = [
            self._reached(entries)
            for entries in self.partitions.values()
            if any(entry.kind in ("event", "read", "window_read") for entry in entries)
        ]
        return min(reached, default=-1)

    def _past_windows(self) -> int:
        """The same of every partition of the topics in which reads of a window landed."""
        topics = {
            topic
            for (topic, _), entries in self.partitions.items()
            if any(entry.kind == "window_read" for entry in entries)
        }
        reached = [
            self._reached(self.partitions.get((topic, partition), []))
            for topic in topics
            for partition in range(1 + max(at for name, at in self.partitions if name == topic))
        ]
        return min(reached, default=-1)

    def _reached(self, entries: list[Entry]) -> int:
        """The highest LSN that changes of a partition name as the commit before theirs."""
        named = (
            self.previous[at]
            for entry in entries
            if entry.kind in ("event", "read", "window_read")
            and (at := entry.transaction) is not None
        )
        return max((lsn for lsn in named if lsn is not None), default=-1)

    # --- the cut

    def cut(self, shown: Cut | None = None) -> Cut | None:
        """The largest cut that can be proven, from the one that is shown already on."""
        if not self.has_changes:
            return None
        for number in reversed(range(len(self.plan.epochs))):
            epoch = self.plan.epochs[number]
            if shown and shown.epoch == number:
                return Cut(number, self._prefix(number, shown.count))
            if epoch.snapshot_lsn is not None:
                if self._snapshot_is_proven(number):
                    return Cut(number, self._prefix(number))
                if min(self.read_epochs, default=number + 1) > number and self._prefix(number):
                    raise TracelessError(
                        f"{self.plan.name}: the log seems to begin after a snapshot"
                    )
            elif (count := self._prefix(number)) and (shown or not self._may_lack_a_snapshot()):
                return Cut(number, count)
        return None

    def _may_lack_a_snapshot(self) -> bool:
        """Whether a partition begins with what cannot be read, and so may be a read.

        END counts changes of no table of whose topic nothing could be read.
        """
        topics = {
            topic
            for (topic, _), entries in self.partitions.items()
            if any(entry.kind in CHANGES for entry in entries)
        }
        for (topic, _), entries in self.partitions.items():
            kinds = [entry.kind for entry in entries]
            first = next((at for at, kind in enumerate(kinds) if kind in CHANGES), len(kinds))
            if "garbage" in kinds[:first] and (topic in topics or not self.plan.has_metadata):
                return True
        return False

    def _prefix(self, epoch: int, known: int = 0) -> int:
        """How many transactions of the epoch are complete, each linked to the one before.

        Args:
            epoch: its number.
            known: how many of them are shown already.
        """
        is_first = not any(earlier.chain for earlier in self.plan.epochs[:epoch])
        if self.mysql:
            return self._mysql_prefix(self.mysql, self.plan.epochs[epoch], known)
        if self.cdl:
            return self._cdl_prefix(self.cdl, self.plan.epochs[epoch], known)
        links: set[int | None] = {None}
        own_links: set[int | None] = set()
        before = {-1} if is_first else set[int]()
        count = 0
        for number in self.plan.epochs[epoch].chain:
            transaction = self.plan.transactions[number]
            if transaction.id is None:
                if number in self.messages and self.plan.messages_name_themselves:
                    own_links.add(transaction.end_lsn)
                elif number in self.messages and self.previous[number] in links:
                    links.add(transaction.end_lsn)
                continue
            if count >= known and not (
                self._is_complete(number, transaction)
                and self._is_linked(number, links, own_links, before)
                and (not _closes_window(transaction) or self._has_whole_window(number))
            ):
                break
            links = {transaction.end_lsn}
            before = self.end_offsets[number]
            count += 1
        return count

    def _cdl_prefix(self, cdl: CdlArrived, epoch: Epoch, known: int) -> int:
        """The same of CDL, where what did not land leaves no trace."""
        count = 0
        is_missing = False
        for number in epoch.chain:
            if count >= known:
                if number not in cdl.lasts:
                    is_missing = True
                    continue
                if not cdl.is_shown(number):
                    break
                if is_missing or not cdl.is_whole(number):
                    raise TracelessError(f"{self.plan.name}: a change before {number} is missing")
            count += 1
        return count

    def _mysql_prefix(self, mysql: MysqlArrived, epoch: Epoch, known: int) -> int:
        """The same of MySQL, whose truncates may be missing without a trace."""
        count, end_offsets, before = 0, {-1}, None
        reached = NOWHERE if epoch.snapshot_lsn is None else (epoch.snapshot_lsn, -1)
        missing: Transaction | None = None
        for number in epoch.chain:
            transaction = self.plan.transactions[number]
            if transaction.id is None:
                continue
            if is_truncate(transaction):
                if number not in self.copies:
                    missing = transaction
                    continue
                is_proven = self.marker_partitions <= {0} and mysql.is_linked(
                    number, before, end_offsets, self.marker_offsets
                )
            else:
                is_proven = self._is_complete(number, transaction) and self._has_every_marker(
                    number, end_offsets
                )
            if count >= known and not (
                is_proven and mysql.is_accounted_for(number, before, reached)
            ):
                break
            if missing:
                raise TracelessError(f"{self.plan.name}: truncate {missing.id} is missing")
            count += 1
            before = transaction.number
            reached = max(reached, mysql.lasts.get(number, reached))
            end_offsets = self.end_offsets.get(number, end_offsets)
        return count

    def _is_linked(
        self,
        number: int,
        links: set[int | None],
        own_links: set[int | None],
        before: set[int],
    ) -> bool:
        if self.plan.connector == "postgresql" and self.copies.get(number):
            if self.previous[number] in links:
                return True
            if self.previous[number] not in own_links:
                return False
        return self._has_every_marker(number, before)

    def _has_every_marker(self, number: int, before: set[int]) -> bool:
        """Whether offsets run without a hole from an END of the one before to an END of this."""
        if self.marker_partitions != {0}:
            end = self.plan.transactions[number].end_lsn
            partitions = range(1 + max(self.marker_partitions))
            return bool(before) and all(self._surrounds(one, end) for one in partitions)
        return any(
            self.marker_offsets.issuperset(range(first + 1, last))
            for first, last in product(before, self.end_offsets[number])
            if first < last
        )

    def _surrounds(self, partition: int, end: int) -> bool:
        """Whether two markers of a partition show that none is missing around an END."""
        ends: dict[int, int | None] = {-1: -1}
        for number, markers in self.markers.items():
            known = self.plan.transactions[number].end_lsn if self.ends[number] else None
            ends |= {offset: known for at, offset, _ in markers if at == partition}
        return any(
            before is not None and after is not None and before < end <= after
            for offset, after in ends.items()
            for before in [ends.get(offset - 1)]
        )

    # --- transactions

    def _is_complete(self, number: int, transaction: Transaction) -> bool:
        copies = self.copies.get(number, {})
        proven = any(
            self._is_counted(number, transaction, copies, counted_from)
            or self._is_ranked(transaction, copies, counted_from)
            or (
                self._is_seen_whole(number)
                and self._is_ranked_by_table(transaction, copies, counted_from)
            )
            for counted_from in self.ends.get(number, ())
        )
        if proven:
            self._check(number, transaction, copies)
        return proven

    def _check(self, number: int, transaction: Transaction, copies: dict[int, set[Orders]]) -> None:
        """That the transaction is what the rules say: each event received, and told from others."""
        events = transaction.events
        missing = {at for at, e in enumerate(events) if e.table in LANDED_TABLES} - copies.keys()
        if missing:
            is_seen = any(
                entry.event in missing and (entry.topic, entry.partition) in self.partitions
                for entry in self.plan.entries
                if entry.transaction == number
            )
            error = UnsoundError if is_seen else TracelessError
            raise error(f"{self.plan.name}: transaction {transaction.id} is not complete")
        if any(len(orders) > 1 and events[at].key is None for at, orders in copies.items()):
            raise UnsoundError(f"{self.plan.name}: a copy counts twice in {transaction.id}")

    def _is_counted(
        self,
        number: int,
        transaction: Transaction,
        copies: dict[int, set[Orders]],
        counted_from: int,
    ) -> bool:
        if any(len(orders) > 1 for orders in copies.values()):
            return False
        received: dict[str, set[int]] = defaultdict(set)
        for at, orders in copies.items():
            received[transaction.events[at].table].update(order for _, order in orders)
        expected = _expected(transaction, counted_from)
        if any(
            received.get(table, set()) != set(range(1, expected[table] + 1))
            for table in received.keys() | expected.keys()
        ):
            return False
        # Two events may carry the same order: then there are more events than orders.
        if len(copies) != expected.total():
            return False
        kinds = [kind for _, _, kind in sorted(self.markers[number])]
        is_begun_again = ("begin", "begin") in pairwise(kinds)
        return (
            not is_begun_again
            or self.plan.second_begin == "harmless"
            or self._is_seen_whole(number)
        )

    def _is_ranked(
        self, transaction: Transaction, copies: dict[int, set[Orders]], counted_from: int
    ) -> bool:
        identities = _identities(transaction, copies, 0)
        counted = len(transaction.events) - counted_from
        reset = len(identities) - counted
        return reset > 0 and _carries_ranks(identities, reset) == "with an overlap"

    def _is_ranked_by_table(
        self, transaction: Transaction, copies: dict[int, set[Orders]], counted_from: int
    ) -> bool:
        expected = _expected(transaction, counted_from)
        of_table: dict[str, dict[int, set[Orders]]] = defaultdict(dict)
        for at, orders in copies.items():
            of_table[transaction.events[at].table][at] = orders
        for table in of_table.keys() | expected.keys():
            identities = _identities(transaction, of_table.get(table, {}), 1)
            reset = len(identities) - expected[table]
            if reset < 0 or not _carries_ranks(identities, reset):
                return False
        return True

    # --- snapshots

    def _counts_a_table_not_landed(self, first_epoch: int) -> bool:
        """Whether an END of an epoch from `first_epoch` on does."""
        topics = {topic for topic, _ in self.partitions}
        return any(
            not topics >= _expected(self.plan.transactions[number], counted_from).keys()
            for epoch in self.plan.epochs[first_epoch:]
            for number in epoch.chain
            for counted_from in self.ends.get(number, ())
        )

    def _snapshot_is_proven(self, number: int) -> bool:
        if self._counts_a_table_not_landed(number):
            return False
        of_table: dict[str, list[str]] = defaultdict(list)
        partitions: dict[str, set[int]] = defaultdict(set)
        for (topic, partition), entries in self.partitions.items():
            partitions[topic].add(partition)
            for entry in entries:
                if entry.kind == "read" and entry.epoch == number and entry.marker:
                    of_table[topic].append(entry.marker)
        if not any("last" in markers for markers in of_table.values()):
            return False
        for table, markers in of_table.items():
            if not {"last", "last_in_data_collection"} & {*markers} and markers != ["first"]:
                return False
            if len(partitions[table]) != max(partitions[table]) + 1:
                return False
        if not all(
            self._has_passed_the_reads(entries, number)
            for (topic, _), entries in self.partitions.items()
            if topic in TABLES or (topic == SIGNAL and not self._has_signals())
        ):
            return False
        for entry in self.plan.entries:
            # A read that was replaced by garbage is one that is missing.
            if entry.marker and entry.epoch == number:
                arrived = self.partitions.get((entry.topic, entry.partition), ())
                if entry.kind != "read" or not any(entry is landed for landed in arrived):
                    raise TracelessError(f"{self.plan.name}: a read of epoch {number} is missing")
        return True

    def _has_signals(self) -> bool:
        """Whether the signal table's topic shows that it is one."""
        return any(
            entry.kind == "event"
            for (topic, _), entries in self.partitions.items()
            if topic == SIGNAL
            for entry in entries
        )

    def _has_passed_the_reads(self, entries: list[Entry], number: int) -> bool:
        is_first = self._is_first(number)
        has_reads = has_passed = is_doubtful = False
        for entry in entries:
            if entry.kind == "read":
                if entry.epoch == number:
                    has_reads, has_passed = True, False
                elif not has_reads:
                    # What cannot be read before a read of an older epoch is older too.
                    has_passed, is_doubtful = entry.epoch > number, False
            elif entry.kind == "garbage":
                is_doubtful = is_doubtful or not has_passed
            elif entry.kind == "tombstone":
                continue
            elif is_first or has_reads or self._is_after_snapshot(entry, number):
                has_passed = True
            elif entry.kind == "event" and not has_passed:
                is_doubtful = False
        return not is_doubtful and (has_passed or (is_first and not has_reads))

    def _is_first(self, number: int) -> bool:
        """Whether nothing that landed shows that the source sent anything before the epoch.

        In PostgreSQL the first transaction of an epoch shows it by its END alone.
        """
        names_nothing = self.plan.connector == "postgresql"
        earlier = (at for epoch in self.plan.epochs[:number] for at in epoch.chain)
        return min(self.read_epochs, default=number) >= number and not any(
            at in self.ends
            or (at in self.copies and not (names_nothing and self.previous[at] is None))
            for at in earlier
        )

    def _is_after_snapshot(self, entry: Entry, number: int) -> bool:
        if entry.kind != "event" or entry.transaction is None:
            return False
        event = self.plan.transactions[entry.transaction].events[entry.event or 0]
        return event.lsn > (self.plan.epochs[number].snapshot_lsn or 0)


def _closes_window(transaction: Transaction) -> bool:
    return any(event.table == SIGNAL for event in transaction.events)


def _expected(transaction: Transaction, counted_from: int) -> Counter[str]:
    """END's counts of the tables that land."""
    return Counter(
        event.table for event in transaction.events[counted_from:] if event.table in LANDED_TABLES
    )


def _identities(
    transaction: Transaction, copies: dict[int, set[Orders]], which: int
) -> list[set[int]]:
    """The orders that each identity carries, in the order of ranks."""
    ranked: list[tuple[int, int, set[int]]] = []
    for at, orders in copies.items():
        event = transaction.events[at]
        if event.key is None and event.operation != "t":
            ranked += [(event.lsn, order[0], {order[which]}) for order in orders]
        else:
            first = min(order[0] for order in orders)
            ranked.append((event.lsn, first, {order[which] for order in orders}))
    return [orders for _, _, orders in sorted(ranked, key=lambda identity: identity[:2])]


def _carries_ranks(identities: list[set[int]], reset: int) -> str | None:
    """Whether the orders are those of a transaction whose counters began again after `reset`."""
    for rank, orders in enumerate(identities, start=1):
        if not orders <= {rank, rank - reset}:
            return None
        if (rank if rank <= reset else rank - reset) not in orders:
            return None
    if reset and any(len(orders) > 1 for orders in identities):
        return "with an overlap"
    return "without an overlap"
