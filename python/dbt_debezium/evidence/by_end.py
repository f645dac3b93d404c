"""Where transactions stand whose changes name no predecessor.

MySQL, MariaDB, Oracle, generic connectors: where END stands in the transaction topic; in several
partitions by the numbers of one log (decision 13); behind its BEGIN, if that stays alone (MariaDB);
or behind the last END before it in its log. SQL Server, Db2: the commit that END or a change tells.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from heapq import nlargest
from operator import itemgetter
from typing import Final

from dbt_debezium.evidence.places import least, most, padded
from dbt_debezium.evidence.transactions import Transaction
from dbt_debezium.judge.places import EVERYWHERE, NOWHERE
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.verdicts import ChainEnd

DOMAIN: Final = "domain-"
BINARY_LOG_PARTS: Final = 4
"""Of a place: file, position, row, server."""
SERVER_OF_READS: Final = "0" * 10
"""Reads of a snapshot name no server."""


class Ends:
    """The ENDs of a source as the order of its transactions."""

    def __init__(
        self,
        sent: Mapping[str, Transaction],
        traits: Traits | None,
        end: ChainEnd,
        *,
        has_one_partition: bool,
        last_begin: int,
        unread: Collection[int] = (),
    ) -> None:
        """Take in the transactions, of which none has a position yet.

        Args:
            sent: those that are not settled.
            traits: of the connector; None while none is known.
            end: of the published chain.
            has_one_partition: whether the transaction topic has only partition 0.
            last_begin: where the newest transaction begins in it, 0 where nothing shows that.
            unread: offsets in it of messages that cannot be read.
        """
        self._sent = sent
        self._traits, self._end = traits, end
        self._has_one_partition, self._last_begin = has_one_partition, last_begin
        self._unread = unread

    def place(self) -> None:
        """Set the position of each transaction."""
        for one in self._sent.values():
            one.position = self._position(one)

    def is_alone(self, one: Transaction) -> bool:
        """Whether another transaction has begun behind a BEGIN without END (MariaDB)."""
        return self._alone(one) is not None

    def following_place(self, position: str | None) -> str | None:
        """The place of the first change of the next transaction behind a position."""
        if position is None or not self._traits or not self._traits.is_ordered_by_end:
            return None
        positions, places = self._places_behind
        at = bisect_right(positions, position)
        return places[at] if at < len(places) else None

    def following_end(self, position: str) -> int | None:
        """The offset of the next END behind a position."""
        if not self._has_one_partition:
            return None
        at = bisect_right(self._positions, position)
        return int(self._positions[at]) if at < len(self._positions) else None

    def seen_by(
        self, place: str, last_of: Mapping[str, str], behind: Collection[str] = ()
    ) -> str | None:
        """The newest END of a transaction whose changes stand before a snapshot's place.

        Args:
            place: of the snapshot's reads.
            last_of: the highest place of a change of each transaction, settled or not.
            behind: transactions that a partition shows behind the reads.
        """
        seen = (
            one
            for one in self._ended
            if one.name not in behind and (last := last_of.get(one.name)) and last <= place
        )
        return max((one.position or NOWHERE for one in seen), default=None)

    def order_of(self, one: Transaction) -> str:
        """What a transaction that waits is sorted by, without a position: behind the last END
        before it in its log."""
        published = self._end.newest_position or NOWHERE
        return f"{most(_before_plus(published), self._end_before(one))}+{one.last or ''}"

    def _position(self, one: Transaction) -> str | None:
        if not self._traits or not self._traits.is_ordered_by_end:
            return one.end_position or one.commit_position
        if one.end_offset is not None:
            if self._has_one_partition:
                return padded(one.end_offset)
            # Numbers of one log have an order that offsets of several partitions lack.
            number = (one.log_position or "").partition("#")[2]
            return f"{_offset_of(self._end.position)}/{number}" if number else None
        alone = self._alone(one)
        if alone is not None:
            return alone
        if one.is_decided or one.is_uncounted or one.is_whole:
            return self._position_without_end(one)
        return None

    def is_placed(self, one: Transaction, logs: Collection[str]) -> bool:
        """Whether anything tells where a transaction without END and BEGIN stands among the others.

        Numbers of one log do. Those of two have no common order, such as tagged GTIDs, two servers
        or domains: then the place in the binary log tells, among transactions of the same server.

        Args:
            one: with changes.
            logs: that markers have named, also those of settled transactions.
        """
        if not {*logs} - {one.log}:
            return True
        server, reached = server_of(one.first), self._end.reached_place
        if server is None or (one.first or "") <= (reached or ""):
            return False
        places = [reached, *(other.first for other in self._ended if other.has_changes)]
        others = {server_of(at) for at in places if at is not None}
        return others <= {server, SERVER_OF_READS}

    def follows_one_without_place(self, one: Transaction) -> bool:
        """Whether a transaction of its log has a lower number, and no END that tells its place."""
        first = self._first_without_place.get(one.log)
        return first is not None and first < (one.log_position or "")

    @cached_property
    def _first_without_place(self) -> dict[str, str]:
        """Of each log the lowest number of a transaction without a position."""
        found: dict[str, str] = {}
        for one in self._sent.values():
            if one.position is None and one.log_position is not None:
                found[one.log] = min(one.log_position, found.get(one.log, one.log_position))
        return found

    def _position_without_end(self, one: Transaction) -> str | None:
        """Behind the last END before it: in its log, or by its place in the binary log."""
        if not one.has_changes:
            return None
        published = self._end.newest_position or NOWHERE
        before = most(_before_plus(published), self._end_before(one), self._end_by_place(one))
        return f"{before}+{one.last or ''}"

    def _end_by_place(self, one: Transaction) -> str | None:
        """The last END of another log whose transaction stands in front of it on its server."""
        server = server_of(one.first)
        if server is None:
            return None
        places, newest = self._ends_of_servers.get(server, ([], []))
        at = bisect_left(places, one.first or "")
        return next((end for log, end in newest[at - 1] if log != one.log), None) if at else None

    @cached_property
    def _ends_of_servers(self) -> dict[str, tuple[list[str], list[list[tuple[str, str]]]]]:
        """Of each server the last places of transactions with END, in order, and up to each the
        newest position of an END: with its log, and that of another log."""
        some: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for one in self._sent.values():
            server = server_of(one.last)
            if one.end_offset is not None and server is not None:
                end = self._position(one) or NOWHERE
                some[server].append((one.last or "", one.log, end))
        found: dict[str, tuple[list[str], list[list[tuple[str, str]]]]] = {}
        for server, ends in some.items():
            places, newest = found[server] = [], []
            of_log: dict[str, str] = {}
            for place, log, end in sorted(ends):
                of_log[log] = max(end, of_log.get(log, NOWHERE))
                places.append(place)
                newest.append(nlargest(2, of_log.items(), key=itemgetter(1)))
        return found

    def _end_before(self, one: Transaction) -> str | None:
        numbers, highest = self._ends_of_logs.get(one.log, ([], []))
        at = bisect_left(numbers, one.log_position or "")
        return highest[at - 1] if at else None

    @cached_property
    def _ends_of_logs(self) -> dict[str, tuple[list[str], list[str]]]:
        """Of each log its numbers in order, and up to each the newest position of an END."""
        some: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for one in self._sent.values():
            if one.end_offset is not None:
                insort(some[one.log], (one.log_position or "", self._position(one) or NOWHERE))
        found = {}
        for log, ends in some.items():
            highest: list[str] = []
            for _, position in ends:
                highest.append(max(position, highest[-1]) if highest else position)
            found[log] = [number for number, _ in ends], highest
        return found

    def _alone(self, one: Transaction) -> str | None:
        """Behind its BEGIN, if that stays alone: another transaction has begun since (MariaDB)."""
        if one.begin_offset is None or one.has_end or not one.log.startswith(DOMAIN):
            return None
        begin = one.begin_offset + 1
        # What follows at once and cannot be read may be its END.
        may_have_end = begin >= self._last_begin or begin in self._unread
        return None if may_have_end else padded(begin)

    @cached_property
    def _ended(self) -> list[Transaction]:
        some = (one for one in self._sent.values() if one.has_end)
        return sorted(some, key=lambda one: (one.position or NOWHERE, one.name))

    @cached_property
    def _positions(self) -> list[str]:
        return [one.position for one in self._ended if one.position and one.position.isdigit()]

    @cached_property
    def _places_behind(self) -> tuple[list[str], list[str]]:
        some = [one for one in self._ended if one.first is not None]
        return [one.position or NOWHERE for one in some], [one.first or "" for one in some]


class Surrounding:
    """In which of several partitions two neighbouring markers stand around a position (S14).

    Args:
        positions: of the marker at each offset, by partition. The beginning of a partition counts
            as a marker in front of all.
        ends: offsets at which partitions end, where nothing else was sent. That counts as a marker
            behind all.
    """

    def __init__(self, positions: Mapping[int, Mapping[int, str]], ends: Mapping[int, int]) -> None:
        self._pairs: dict[int, tuple[list[str], list[str]]] = {}
        for partition in sorted({*positions, *ends}):
            some = positions.get(partition, {})
            known = {-1: NOWHERE, **some}
            behind = {ends[partition]: EVERYWHERE} if partition in ends else {}
            pairs = sorted(
                (before, after)
                for offset, after in {**some, **behind}.items()
                if (before := known.get(offset - 1)) is not None
            )
            highest: list[str] = []
            for _, after in pairs:
                highest.append(max(after, highest[-1]) if highest else after)
            self._pairs[partition] = [before for before, _ in pairs], highest

    def partitions(self, position: str | None) -> tuple[int, ...]:
        """The partitions of a position; none of what has none.

        >>> Surrounding({0: {0: "4", 1: "6"}, 1: {3: "5"}}, {}).partitions("5")
        (0,)
        >>> Surrounding({0: {0: "4", 1: "6"}, 1: {3: "4"}}, {1: 4}).partitions("5")
        (0, 1)
        """
        if not position:
            return ()
        return tuple(
            partition
            for partition, (before, highest) in self._pairs.items()
            if (at := bisect_left(before, position)) and highest[at - 1] >= position
        )


def pass_over(positions: dict[int, str], offset: int) -> None:
    """Let a marker of another source stand where the one before it in the partition stands, so that
    those on both sides of it are neighbours.

    >>> positions = {0: "4", 2: "6"}
    >>> pass_over(positions, 1)
    >>> positions[1]
    '4'
    """
    before = positions.get(offset - 1, None if offset else NOWHERE)
    if before is not None:
        positions.setdefault(offset, before)


def server_of(place: str | None) -> str | None:
    """The server that wrote a place of a binary log; None of what tells no such place.

    >>> server_of("0000000001:0000000000000000300:0000000000:0000000009")
    '0000000009'
    >>> server_of("0042")
    """
    parts = (place or "").rpartition(": ")[2].split(":")
    return parts[-1] if len(parts) == BINARY_LOG_PARTS else None


def last_begin(sent: Iterable[Transaction], known: int) -> int:
    """Where the newest transaction begins.

    Args:
        sent: those that are not settled.
        known: where the newest settled one begins.
    """
    return max([known, *(first_marker(one) for one in sent if one.has_markers)])


def first_marker(one: Transaction) -> int:
    """Where a transaction begins, as far as its markers tell: an END has a BEGIN before it."""
    begin = None if one.begin_offset is None else one.begin_offset + 1
    return least(begin, one.end_offset) or 0


def _before_plus(position: str) -> str:
    return position.partition("+")[0]


def _offset_of(position: str | None) -> str:
    """The offset that a position begins with, whatever follows it there."""
    return _before_plus(position or NOWHERE).partition("/")[0]
