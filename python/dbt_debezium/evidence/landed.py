"""What has landed in each partition, by one look at the stretches of a run."""

from collections.abc import Iterable

from dbt_debezium.evidence.facts import Stretch, TopicPartition
from dbt_debezium.evidence.late import Late
from dbt_debezium.evidence.partitions import Lines
from dbt_debezium.evidence.places import least, most
from dbt_debezium.judge.traits import Traits


class Landed:
    """Stretches summed up: however many there are, little is kept of them.

    Args:
        stretches: of the run.
        lines: of its partitions.
        late: which changes are of settled units.
        traits: of the connector.
    """

    def __init__(
        self, stretches: Iterable[Stretch], lines: Lines, late: Late, traits: Traits | None
    ) -> None:
        self.reached: dict[TopicPartition, str | None] = {
            place: lines.reached(place, (), traits) for place in lines.places
        }
        """How far each partition has come."""
        self.with_changes: set[TopicPartition] = set()
        self.with_windows: set[TopicPartition] = set()
        self.late: list[Stretch] = []
        """Those of late changes."""
        self.named: str | None = None
        """The first commit that a change names as the one before."""
        self.first_place: str | None = None
        """The place of the first change; empty where one tells none."""
        self.first_position: str | None = None
        """Likewise, or the commit that it tells."""
        for one in stretches:
            key = one.key
            self.reached[key] = most(self.reached[key], lines.reached(key, (one,), traits))
            if one.kind == "other":
                continue
            self.with_changes.add(key)
            if one.kind == "window":
                self.with_windows.add(key)
            if one.kind != "change":
                continue
            if late.has_stretch(one):
                self.late.append(one)
            self.named = least(self.named, one.previous)
            self.first_place = least(self.first_place, one.first_place or "")
            self.first_position = least(
                self.first_position, one.first_place or one.commit_position or ""
            )
