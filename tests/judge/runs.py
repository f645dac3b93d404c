"""Runs of the judge on one source: each knows all that has landed, and where the last one ended."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from collector import Collector, Delivery, Known, Landed, Settings, collector_of

from dbt_debezium.judge import ChainEnd, Commit, Discarded, Passed, Superseded, Verdict, judge
from dbt_debezium.judge.decisions import Decided
from dbt_debezium.judge.marks import Decision, Mark


class Runs:
    """What the runs of a source have in common."""

    def __init__(
        self, source: str, not_ingested: Sequence[str] = (), *, is_in_order: bool = False
    ) -> None:
        self.source = source
        self.not_ingested = not_ingested
        self.is_in_order = is_in_order
        self.start = self.end = ChainEnd()
        """Where the chain ended before the latest run, and where it ends."""
        self.settings = Settings()
        self.decisions: dict[str, Decided] = {}
        """What operators have decided, by transaction, or by `snapshot` and its place."""
        self.marks: list[Mark] = []
        """Of the latest run."""
        self.verdicts: list[Verdict] = []
        """Likewise, of transactions and snapshots."""
        self._published: dict[str, None] = {}
        self._superseded: set[str] = set()
        self._known_places: dict[Delivery, str] = {}

    def run(self, landed: Iterable[Landed]) -> Collector:
        """Judge all that has landed.

        Args:
            landed: each delivery once or more often, in any order.

        Raises:
            DebeziumError: the judge refuses it.
        """
        sent = [*landed]
        for one in sent:
            if one.flat.kind == "quarantined":
                place = self.end.reached_place or ""
                if any(other.flat.connector == "postgresql" for other in sent):
                    place = self.end.position or self.end.snapshot_position or ""
                self._known_places.setdefault(one[:3], place)
        known = Known(
            self.end,
            frozenset(self._published) | self._superseded,
            next(reversed(self._published), None),
            [_decision(what, decided) for what, decided in self.decisions.items()],
            self._known_places,
            self.settings,
        )
        collector = collector_of(
            self.source, sent, self.not_ingested, is_in_order=self.is_in_order, known=known
        )
        self.marks = collector.collect()
        self.verdicts = []
        self.start = _with_copies(self.end, collector, known.newest)
        for one in judge(self.marks, self.start):
            if isinstance(one, Passed):
                continue
            self.verdicts.append(one)
            if isinstance(one, Commit | Discarded):
                self.end = one.chain_end
                if one.transaction_id is not None:
                    self._published[one.transaction_id] = None
            elif isinstance(one, Superseded) and one.transaction_id is not None:
                self._superseded.add(one.transaction_id)
        return collector


def _with_copies(end: ChainEnd, collector: Collector, newest: str | None) -> ChainEnd:
    """The end with copies of its END, which a restart sends: int_source_mark gives them, too."""
    if newest is None or not collector.traits or collector.traits.is_ordered_by_end:
        return end
    landed = collector.markers.get(newest, ())
    copies = {one.offset for one in landed if one.flat.marker == "END"}
    return replace(end, end_offsets=tuple(sorted({*end.end_offsets, *copies})))


def _decision(what: str, decided: Decided) -> Decision:
    assert decided is not None
    place = what.removeprefix("snapshot ")
    if place != what:
        return Decision(decided, snapshot_position=place)
    return Decision(decided, transaction_id=what)
