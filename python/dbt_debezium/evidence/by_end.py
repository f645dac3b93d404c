"""Where transactions stand whose changes name no predecessor.

MySQL, MariaDB, Oracle, generic connectors: where END stands in the transaction topic; in several
partitions by the numbers of one log (decision 13); after its BEGIN, if that stays alone (MariaDB);
or after the last END before it in its log. SQL Server, Db2: the commit that END or a change tells.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from itertools import accumulate
from typing import Final, TypeAlias

from dbt_debezium.evidence.places import least, most, padded
from dbt_debezium.evidence.transactions import Transaction
from dbt_debezium.judge.places import EVERYWHERE, NOWHERE, base_of, behind
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.verdicts import ChainEnd

DOMAIN: Final = "domain-"
BINARY_LOG_PARTS: Final = 4
"""Of a place: file, position, row, server."""
SERVER_OF_READS: Final = "0" * 10
"""Reads of a snapshot name no server."""
Pair: TypeAlias = tuple[str, str]
"""A number or a place, and the position of an END after it."""


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
        """Whether another transaction has begun after a BEGIN without END (MariaDB)."""
        return self._alone(one) is not None

    def is_over(self, one: Transaction) -> bool:
        """Whether its END has landed, or never comes."""
        return one.has_end or self.is_alone(one)

    def following_place(self, position: str | None) -> str | None:
        """The place of the first change of the next transaction after a position."""
        if position is None:
            return None
        positions, places = self._places_behind
        at = bisect_right(positions, position)
        return places[at] if at < len(places) else None

    def following_end(self, position: str) -> int | None:
        """The offset of the next END after a position."""
        if not self._has_one_partition:
            return None
        at = bisect_right(self._end_offsets, int(_offset_of(position) or -1))
        return self._end_offsets[at] if at < len(self._end_offsets) else None

    def seen_by(
        self,
        place: str,
        last_of: Mapping[str, str],
        before: Collection[str],
        behind: Collection[str],
    ) -> str | None:
        """Where the newest transaction stands that a snapshot has seen: its partitions show it
        before the reads, or its changes stand before their place. That does not compare with places
        of a server of which a lower one lies after the reads; and what ends after a transaction
        that lies there was not seen either, as after a failover to a replica with the same id.

        Args:
            place: of the snapshot's reads.
            last_of: the highest place of a change of each transaction, settled or not.
            before: transactions that a partition shows before the reads.
            behind: transactions that a partition shows after them.
        """
        followed = [self._sent[name] for name in behind if name in self._sent]
        ends = (one.position or NOWHERE for one in followed if one.has_end)
        first_end = min(ends, default=EVERYWHERE)
        lower = (last for name in behind if (last := last_of.get(name, EVERYWHERE)) <= place)
        unlike = {*map(server_of, lower)} - {None}

        def is_before(one: Transaction) -> bool:
            last = last_of.get(one.name)
            if last is None or last > place or server_of(last) in unlike:
                return False
            return (one.position or NOWHERE) < first_end

        seen = (
            one.position or NOWHERE
            for one in self._sent.values()
            if self.is_over(one)
            and one.name not in behind
            and (one.name in before or is_before(one))
        )
        return max(seen, default=None)

    def order_of(self, one: Transaction) -> str:
        """What a transaction that waits is sorted by, without a position: after the last END
        before it in its log."""
        published = self._end.newest_position or NOWHERE
        return behind(most(base_of(published), self._end_before(one)) or NOWHERE, one.last)

    def _position(self, one: Transaction) -> str | None:
        if not self._traits or not self._traits.is_ordered_by_end:
            return one.end_position or one.commit_position
        if one.end_offset is not None:
            if self._has_one_partition:
                return padded(one.end_offset)
            # Numbers of one log have an order that offsets of several partitions lack.
            number = (one.log_position or "").partition("#")[2]
            return f"{_offset_of(self._end.newest_position)}/{number}" if number else None
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
        if (one.first or "") <= (reached or ""):
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
            if one.position is None:
                number = one.log_position or ""
                found[one.log] = min(number, found.get(one.log, number))
        return found

    def _position_without_end(self, one: Transaction) -> str | None:
        """After the last END before it: in its log, or by its place in the binary log."""
        if not one.has_changes:
            return None
        published = self._end.newest_position or NOWHERE
        before = most(base_of(published), self._end_before(one), self._end_by_place(one))
        return behind(before or NOWHERE, one.last)

    def _end_by_place(self, one: Transaction) -> str | None:
        """The last END of another log whose transaction stands before it on its server."""
        of_logs = self._ends_of_servers.get(server_of(one.first), {})
        return most(*(ends.before(one.first) for log, ends in of_logs.items() if log != one.log))

    @cached_property
    def _ends_of_servers(self) -> dict[str | None, dict[str, "Highest"]]:
        """Of each server and log the ENDs, by the last places of their transactions."""
        some: dict[str, dict[str, list[Pair]]] = defaultdict(lambda: defaultdict(list))
        for one in self._sent.values():
            server = server_of(one.last)
            if one.end_offset is not None and server is not None:
                some[server][one.log].append((one.last or "", self._position(one) or NOWHERE))
        return {
            server: {log: Highest(ends) for log, ends in of_logs.items()}
            for server, of_logs in some.items()
        }

    def _end_before(self, one: Transaction) -> str | None:
        ends = self._ends_of_logs.get(one.log)
        return None if ends is None else ends.before(one.log_position)

    @cached_property
    def _ends_of_logs(self) -> dict[str, "Highest"]:
        """Of each log the ENDs, by their numbers."""
        some: dict[str, list[Pair]] = defaultdict(list)
        for one in self._sent.values():
            if one.end_offset is not None:
                some[one.log].append((one.log_position or "", self._position(one) or NOWHERE))
        return {log: Highest(ends) for log, ends in some.items()}

    def _alone(self, one: Transaction) -> str | None:
        """After its BEGIN, if that stays alone: another transaction has begun since (MariaDB)."""
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
    def _end_offsets(self) -> list[int]:
        some = (one.end_offset for one in self._sent.values())
        return sorted(at for at in some if at is not None)

    @cached_property
    def _places_behind(self) -> tuple[list[str], list[str]]:
        some = [one for one in self._ended if one.first is not None]
        return [one.position or NOWHERE for one in some], [one.first or "" for one in some]


class Highest:
    """Positions by what stands before them."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        some = sorted(pairs)
        self._keys = [key for key, _ in some]
        self._highest = [*accumulate((position for _, position in some), max)]

    def before(self, key: str | None) -> str | None:
        """The highest position of a lower key.

        >>> Highest([("a", "5"), ("b", "3")]).before("c"), Highest([("a", "5")]).before("a")
        ('5', None)
        """
        at = bisect_left(self._keys, key or "")
        return self._highest[at - 1] if at else None


class Surrounding:
    """In which of several partitions two neighbouring markers stand around a position (S14).

    Args:
        positions: of the marker at each offset, by partition. The beginning of a partition counts
            as a marker before all others.
        ends: offsets at which partitions end, where nothing else was sent. That counts as a marker
            after all others.
    """

    def __init__(self, positions: Mapping[int, Mapping[int, str]], ends: Mapping[int, int]) -> None:
        self._behind: dict[int, Highest] = {}
        for partition in sorted({*positions, *ends}):
            some = positions.get(partition, {})
            known = {-1: NOWHERE, **some}
            behind = {ends[partition]: EVERYWHERE} if partition in ends else {}
            self._behind[partition] = Highest(
                (before, after)
                for offset, after in {**some, **behind}.items()
                if (before := known.get(offset - 1)) is not None
            )

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
            for partition, behind in self._behind.items()
            if (behind.before(position) or NOWHERE) >= position
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


def _offset_of(position: str | None) -> str:
    """The offset that a position begins with, whatever follows it there."""
    return base_of(position or NOWHERE).partition("/")[0]
