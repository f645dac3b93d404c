"""What is settled and lands again (S17): told by its place, or by its id where that says nothing.

A unit that is settled is late, whenever its messages land: what is dropped here was published,
discarded, or seen by a snapshot. `settled_unit` says where a settled transaction stands.
"""

from collections.abc import Callable, Iterable

from dbt_debezium.evidence.by_end import SERVER_OF_READS, server_of
from dbt_debezium.evidence.facts import Count, Marker, Rows, Stretch
from dbt_debezium.evidence.known import Known
from dbt_debezium.evidence.places import most, padded
from dbt_debezium.evidence.state import State
from dbt_debezium.evidence.unnamed import is_lone
from dbt_debezium.judge.places import base_of, behind, is_behind, place_in
from dbt_debezium.judge.traits import Traits


class Late:
    """Which facts of a run are of settled units."""

    def __init__(
        self,
        known: Known,
        state: State,
        traits: Traits | None,
        counts: Iterable[Count],
        stretches: Rows[Stretch],
        markers: Iterable[Marker],
        is_leading: Callable[[str], bool],
    ) -> None:
        """Take in where the changes of each transaction stand.

        Args:
            known: of the source.
            state: after the last run.
            traits: of the connector, as far as that is known.
            counts: of all changes that a run is given.
            stretches: likewise.
            markers: BEGINs and ENDs that are surely of the source.
            is_leading: whether the offsets of a topic link transactions.
        """
        self._known, self._state = known, state
        self._end = state.end
        self._passed = self._end.passed
        self._names = bool(traits and traits.names_predecessor)
        self._may_repeat_ids = traits is not None and not traits.is_known
        self._snapshot_place = None
        position = None if self._end.has_discarded_snapshot else self._end.snapshot_position
        if traits and traits.is_ordered_by_end and position is not None:
            self._snapshot_place = place_in(position)
        self._before: set[str] = set()
        """Transactions that a partition shows before reads of a published snapshot."""
        self._behind: set[str] = set()
        """Those that one shows after all of them."""
        self._unlike: set[str] = set()
        """Servers whose places do not compare with that of the snapshot: one that lies after its
        reads is lower."""
        if self._snapshot_place is not None:
            reads = {
                line.key: line.last_read
                for line in state.partitions
                if line.last_read_place in (None, self._snapshot_place)
            }
            for stretch in stretches.where("kind", "change"):
                last_read = reads.get(stretch.key)
                if stretch.unit_id is None or last_read is None:
                    continue
                if stretch.first_offset < last_read:
                    self._before.add(stretch.unit_id)
                    continue
                self._behind.add(stretch.unit_id)
                server = server_of(stretch.last_place)
                if server is not None and (stretch.last_place or "") <= self._snapshot_place:
                    self._unlike.add(server)
        self._open = {one.id for one in state.open if one.kind == "transaction"}
        self._last: dict[str, str | None] = {}
        self.lone: set[str] = set()
        """Those of which neither a GTID nor a transaction block says whose changes they are."""
        self._unmarked: set[str] = set()
        """Those with transaction metadata of which neither BEGIN nor END has landed."""
        for one in counts:
            self._last[one.transaction_id] = most(
                one.last_place, self._last.get(one.transaction_id)
            )
            if is_lone(one):
                self.lone.add(one.transaction_id)
            if one.has_block and self._snapshot_place is not None:
                self._unmarked.add(one.transaction_id)
        self.ends: dict[str, str] = {}
        """Where ENDs of this run say that transactions stand."""
        self._marked: dict[str, int] = {}
        """Where BEGIN or END of a transaction stands in the one partition of their topic."""
        for marker in markers:
            name = marker.transaction_id
            if marker.is_end and marker.position is not None:
                self.ends[name] = min(marker.position, self.ends.get(name, marker.position))
            if self._snapshot_place is None:
                continue
            self._unmarked.discard(name)
            if marker.partition == 0 and is_leading(marker.topic):
                self._marked[name] = min(marker.offset, self._marked.get(name, marker.offset))

    def is_seen(self, name: str) -> bool:
        """Whether a published snapshot has seen a transaction, whenever its END lands: where END is
        the order, its partitions show it before the reads, or it stands before their place."""
        if self._snapshot_place is None or name in self._known.settled or name in self._behind:
            return False
        last = self._last.get(name)
        if last is None or name in self._before:
            return name in self._before
        # Its place alone tells nothing while BEGIN or END may show that it came later.
        if name in self._unmarked and server_of(last) is not None:
            return False
        is_before = last <= self._snapshot_place and not self._is_of_another_server(last)
        return is_before and not self._is_marked_later(name)

    def _is_of_another_server(self, place: str) -> bool:
        """Whether another server has written a place than the newest one that is published. The two
        do not compare, and what another one sends came later."""
        server = server_of(place)
        servers = {server, server_of(self._end.reached_place)}
        return server in self._unlike or len(servers - {None, SERVER_OF_READS}) > 1

    def _is_marked_later(self, name: str) -> bool:
        """Whether its BEGIN or END stands after that of a transaction which follows the snapshot,
        whatever its place: another replica may send places of its own under the same server id."""
        position = self._end.position
        if position is None or "/" in position or name not in self._marked:
            return False
        return padded(self._marked[name]) > base_of(position)

    def seen(self) -> list[str]:
        """Transactions of this run that a published snapshot has seen."""
        return [one for one in self._last if self.is_seen(one)]

    def has(self, name: str, previous: str | None, last: str | None) -> bool:
        """Whether changes of a transaction are late.

        Args:
            name: the transaction's id.
            previous: the commit that the changes name as the one before.
            last: the highest place of one.
        """
        if not self._names:
            if name in self.lone:
                return (last or "") <= (self._end.reached_place or "")
            return name in self._known.settled or self.is_seen(name)
        # Only the first transaction of a stream names no commit. After a discarded snapshot no
        # place shows what is published. A transaction that waits is not late, also if an operator
        # has decided on the next one.
        if previous is None or self._passed is None or name in self._open:
            return name in self._known.settled
        return self._has_passed(previous, last, name)

    def _has_passed(self, previous: str | None, last: str | None, name: str = "") -> bool:
        """Whether the chain has passed changes, or reads of a window, that name a commit."""
        if self._passed is None or previous is None or previous >= self._passed:
            return False
        # If the slot was lost inside a transaction that an operator decided on, the new stream may
        # name the same predecessor.
        is_of_new_stream = name != self._state.newest and self._passed.startswith(behind(previous))
        # After a restart inside the first transaction after a snapshot a change names one of its
        # own, which may be older (Debezium 3.6.3). What the snapshot has seen ended at its place.
        is_behind_snapshot = self._end.position is None and (last or "") >= self._passed
        return not is_of_new_stream and not is_behind_snapshot

    def has_stretch(self, one: Stretch) -> bool:
        """Whether a stretch is one of late changes or reads."""
        return self.has(one.unit_id or "", one.previous, one.last_place)

    def has_window(self, one: Stretch) -> bool:
        """Whether the window of reads that name a commit is closed (PostgreSQL)."""
        return self._has_passed(one.previous, one.last_place)

    def _has_other_time(self, one: Marker) -> bool:
        """Whether an END is of another transaction, to which the connector has given the id
        again."""
        known = self._known.settled_times.get(one.transaction_id)
        return self._may_repeat_ids and one.is_end and known not in (None, one.committed_at)

    def has_marker(self, one: Marker) -> bool:
        """Whether a BEGIN or END is late."""
        name = one.transaction_id
        if self.is_seen(name):
            return True
        if name not in self._known.settled:
            return False
        if self._names:
            return name not in self.ends or self._passed is None or self.ends[name] <= self._passed
        if self._has_other_time(one):
            return False
        # What an operator settled without END keeps its later END, which links the chain.
        was_guessed = is_behind(self._known.settled[name] or "")
        return not (name in self._known.decided and was_guessed)
