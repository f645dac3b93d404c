"""Transactions that are not settled: what is counted of each, and what END says of it.

What a transaction needs to be placed is small, and kept of all. Its counts and markers are objects
one transaction at a time.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from operator import itemgetter
from typing import Final

from dbt_debezium.evidence.facts import Change, Count, Marker, Row, Rows
from dbt_debezium.evidence.places import least, log_of, most
from dbt_debezium.reasons.hold_reason import HoldReason

MESSAGES_OF_END: Final = "*.LogicalDecodingMessageMonitor$LogicalDecodingMessageId@*"
"""The name under which END counts logical messages."""


@dataclass(slots=True, eq=False)
class Transaction:
    """One that is not settled, by all that is counted of it."""

    name: str

    # its changes
    has_changes: bool = False
    is_whole: bool = False
    """Whether it is a transaction by itself: a TRUNCATE without BEGIN and END, or a DROP or RENAME
    that ends the rows of a table."""
    has_block: bool = True
    """Whether each change has a transaction block."""
    has_any_block: bool = False
    """Whether all changes of one table have it."""
    received: int = 0
    """Distinct changes."""
    first: str | None = None
    last: str | None = None
    """The lowest and the highest place of its changes."""
    commit_position: str | None = None
    """That a change tells."""
    committed_at: int = 0
    log_position: str | None = None
    named: str | None = None
    """The commit that its changes name first."""
    _nameless_last: str | None = None
    _naming_first: str | None = None

    # its markers
    has_markers: bool = False
    has_end: bool = False
    begin_offset: int | None = None
    """Of its first BEGIN in the leading topic."""
    end_offset: int | None = None
    """Likewise of its first END."""
    marked_at: int | None = None
    """When it was committed, by what comes first of BEGIN and END."""
    event_count: int | None = None
    """Of all its changes, by the END that counts most."""
    expected: int = 0
    """Changes of tables that land, by the END that counts most."""
    ended_at: int | None = None
    """When it was committed, by END, which may say another time than BEGIN."""
    has_other_end: bool = False
    """Whether another END says another time."""
    end_position: str | None = None
    """That its END tells."""

    # what is known of it
    is_decided: bool = False
    """Whether an operator has released or discarded it."""
    is_uncounted: bool = False
    """Whether nothing counts its changes (S15)."""

    # where it stands
    older: str | None = None
    """The highest place of a change of what comes before it."""
    following: str | None = None
    """The commit that the next one names, empty for none; None where none has landed after it in
    its epoch, a settled one stands between, or the next has no changes."""
    has_known_end: bool = True
    is_last_of_epoch: bool = False
    """Whether what comes next belongs to an epoch that an operator has declared."""
    position: str | None = None
    """Where it was committed, or behind what comes before it (`judge.places.behind`); None where no
    message shows it."""
    stands_at: str | None = None
    """Where the judge finds it: at its position, or where it holds what follows."""
    misplacement: HoldReason | None = None
    """Why it holds what follows."""

    def add_count(self, one: Count) -> None:
        """Take in changes of one table."""
        self.has_changes = True
        self.is_whole = self.is_whole or one.is_whole
        self.has_block = self.has_block and one.has_block
        self.has_any_block = self.has_any_block or one.has_block
        self.received += one.received
        self.first = least(self.first, one.first_place)
        self.last = most(self.last, one.last_place)
        self.commit_position = self.commit_position or one.commit_position
        self.committed_at = max(self.committed_at, one.committed_at)
        self.log_position = self.log_position or one.log_position
        if one.previous is None:
            self._nameless_last = most(self._nameless_last, one.last_place)
        else:
            self.named = least(self.named, one.previous)
            self._naming_first = least(self._naming_first, one.first_place)

    def add_marker(self, one: Marker, *, is_leading: bool) -> None:
        """Take in a BEGIN or an END."""
        self.log_position = self.log_position or one.log_position
        self.has_markers = True
        self.marked_at = least(self.marked_at, one.committed_at)
        if one.is_end:
            self.has_end = True
            if self.ended_at not in (None, one.committed_at):
                self.has_other_end = True
            self.ended_at = least(self.ended_at, one.committed_at)
            self.event_count = most(self.event_count, one.event_count)
            self.end_position = least(self.end_position, one.position)
        if not is_leading:
            return
        if one.is_end:
            self.end_offset = least(self.end_offset, one.offset)
        else:
            self.begin_offset = least(self.begin_offset, one.offset)

    @property
    def log(self) -> str:
        return log_of(self.log_position)

    @property
    def previous(self) -> str | None:
        """The commit before its own. After a restart inside the first transaction of a stream
        changes name the last one before the restart, which is no predecessor (Debezium 3.6.3)."""
        named, nameless, naming = self.named, self._nameless_last, self._naming_first
        if named is None or nameless is None or naming is None or self.first is None:
            return named
        return None if self.first <= named <= nameless and naming > named else named


class Transactions(Mapping[str, Transaction]):
    """Those of a source that are not settled, by their ids.

    Args:
        counts: of their changes.
        markers: their BEGINs and ENDs.
        is_kept: of counts and of markers, whether one is of a transaction that is not settled.
        is_leading: whether a topic's offsets link transactions.
        group_of: of each change that names no transaction, its group.
        odd_changes: of those whose numbers are odd.
        not_ingested: patterns of tables that END counts and that never land.
    """

    def __init__(
        self,
        counts: Rows[Count],
        markers: Rows[Marker],
        is_kept: tuple[Callable[[Count], bool], Callable[[Marker], bool]],
        is_leading: Callable[[str], bool],
        group_of: Mapping[str, str],
        odd_changes: Iterable[Change],
        not_ingested: Sequence[str],
    ) -> None:
        self._counts, self._markers = counts, markers
        self._group_of = group_of
        self._left_out = (*not_ingested, MESSAGES_OF_END)
        self._is_left_out: dict[str, bool] = {}
        self._known: dict[str, Transaction] = {}
        keeps_count, keeps_marker = is_kept
        self._count_names = [
            self._name_of(one) if keeps_count(one) else None for one in self._counts
        ]
        for count, name in zip(self._counts, self._count_names, strict=True):
            if name is not None:
                self._of(name).add_count(count)
        self._marker_names = [
            one.transaction_id if keeps_marker(one) else None for one in self._markers
        ]
        for marker, name in zip(self._markers, self._marker_names, strict=True):
            if name is not None:
                one = self._of(name)
                one.add_marker(marker, is_leading=is_leading(marker.topic))
                expected = sum(count for (count,) in self.expected([marker]).values())
                one.expected = max(one.expected, expected)
        self._odd: dict[str, list[Change]] = defaultdict(list)
        for change in odd_changes:
            self._odd[change.transaction_id].append(change)

    def __getitem__(self, name: str) -> Transaction:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def _name_of(self, one: Count) -> str:
        return self._group_of.get(one.transaction_id, one.transaction_id)

    def _of(self, name: str) -> Transaction:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = Transaction(name)
        return found

    def odd_changes(self, name: str) -> list[Change]:
        """Changes of a transaction whose numbers are odd, in the order of the log (S3)."""
        some = self._odd.get(name, ())
        return sorted(some, key=lambda one: (one.place or "", one.first_order))

    def kept_markers(self) -> Iterator[Marker]:
        """All BEGINs and ENDs of these."""
        for marker, name in zip(self._markers, self._marker_names, strict=True):
            if name is not None:
                yield marker

    def left_out_markers(self) -> Iterable[Marker]:
        """The BEGINs and ENDs that are not of these."""
        return self._markers.at([at for at, name in enumerate(self._marker_names) if name is None])

    def in_order(self) -> Iterator[tuple[Transaction, list[Count], list[Marker]]]:
        """Each with its counts and markers, in the order of the chain; those without a position
        last."""
        some = sorted(
            self._known.values(),
            key=lambda one: (one.stands_at is None, one.stands_at or "", one.name),
        )
        rank = {one.name: at for at, one in enumerate(some)}
        counts = _by_rank(self._counts, self._count_names, rank)
        markers = _by_rank(self._markers, self._marker_names, rank)
        count, marker = next(counts, None), next(markers, None)
        for at, one in enumerate(some):
            own_counts: list[Count] = []
            own_markers: list[Marker] = []
            if count is not None and count[0] == at:
                own_counts, count = count[1], next(counts, None)
            if marker is not None and marker[0] == at:
                own_markers, marker = marker[1], next(markers, None)
            own_markers.sort(key=lambda one: (one.topic, one.partition, one.offset))
            yield one, own_counts, own_markers

    def expected(self, markers: Iterable[Marker]) -> dict[str, list[int]]:
        """Of each table that lands what each END counts, 0 where it does not."""
        counts = [one.counts for one in markers if one.is_end]
        names = {name for one in counts for name in one if not self.never_lands(name)}
        return {name: [one.get(name, 0) for one in counts] for name in names}

    def never_lands(self, name: str) -> bool:
        """Whether a table is said never to land."""
        known = self._is_left_out.get(name)
        if known is None:
            known = any(fnmatchcase(name, pattern) for pattern in self._left_out)
            self._is_left_out[name] = known
        return known


def _by_rank(
    rows: Rows[Row], names: Sequence[str | None], rank: Mapping[str, int]
) -> Iterator[tuple[int, list[Row]]]:
    """Rows of each transaction, in the order of their ranks."""
    order = [at for at, name in enumerate(names) if name is not None]
    order.sort(key=lambda at: rank[names[at] or ""])
    ranked = zip((rank[names[at] or ""] for at in order), rows.at(order), strict=True)
    for at, some in groupby(ranked, key=itemgetter(0)):
        yield at, [row for _, row in some]
