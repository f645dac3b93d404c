"""How long partitions have been silent, so that a snapshot does not wait for them for ever."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from dbt_debezium.kafka.plan import Landed, Range


@dataclass(frozen=True, slots=True)
class Silence:
    """When partitions were last looked at, and when anything last came.

    A look notes where all partitions end. Looks go on until the last one is sure of each partition,
    so long after the newest message of all.
    """

    partitions: Mapping[tuple[str, int], Landed]
    """By topic and number."""
    moved_at: datetime | None
    """When a cluster was asked for the newest messages that have landed."""
    quiet_after: timedelta
    """0 for no looks."""

    @property
    def look_at(self) -> datetime | None:
        """When the next look is due, while messages still come; None after the last one."""
        if not self.quiet_after or self.moved_at is None:
            return None
        waiting = [
            one.looked_at or self.moved_at
            for one in self.partitions.values()
            if self._is_waited_for(one)
        ]
        return min(waiting) + self.quiet_after if waiting else None

    @property
    def wake_up_at(self) -> datetime | None:
        """The same, if nothing comes any more."""
        if self.look_at is None or self.moved_at is None:
            return None
        return max(self.look_at, self.moved_at + self.quiet_after)

    def _is_waited_for(self, one: Landed) -> bool:
        if self.moved_at is None or one.sure_at is None:
            return True
        return one.sure_at < self.moved_at + self.quiet_after

    def is_proved_by(self, ranges: Iterable[Range]) -> bool:
        """Whether a look is sure of a partition of which none was before."""
        return any(
            one.end == one.start
            and one.is_sure_end
            and (before := self.partitions.get((one.topic, one.partition))) is not None
            and self._is_waited_for(before)
            for one in ranges
        )

    def is_due(self, now: datetime) -> bool:
        return self.look_at is not None and self.look_at <= now

    def after(self, ranges: Iterable[Range], asked_at: datetime) -> "Silence":
        """What is known when a landing has noted ranges."""
        partitions, moved_at = dict(self.partitions), self.moved_at
        for one in ranges:
            sure_at = asked_at if one.is_sure_end else None
            at = (one.topic, one.partition)
            partitions[at] = Landed(one.topic_id, one.end, asked_at, sure_at)
            if one.end > one.start:
                moved_at = asked_at
        return replace(self, partitions=partitions, moved_at=moved_at)
