"""Runs of a source as the product does them: new messages, those of open units, and the state."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from landed import Delivery, Landed
from narrow import narrow_row, table_of

from dbt_debezium import evidence
from dbt_debezium.evidence import (
    Judged,
    Known,
    Look,
    State,
    Topic,
    decoded,
    encoded,
    evidence_of,
    judge_source,
)
from dbt_debezium.evidence.groups import FOREIGN
from dbt_debezium.evidence.narrow import COLUMNS
from dbt_debezium.evidence.verdicts import UnitVerdict
from dbt_debezium.judge import ChainEnd, Verdict
from dbt_debezium.judge.decisions import Decided
from dbt_debezium.judge.marks import Decision, Facts, Link
from dbt_debezium.messages.flat import Flat
from dbt_debezium.messages.units import Unit, hashes_of, unit_of
from dbt_debezium.reasons.hold_reason import HoldReason

COPIES = "copied."
"""What names of topics begin with that MirrorMaker has copied."""
SILENCE = 1
"""Microseconds until a partition is quiet. Messages land at 0."""


@dataclass(frozen=True)
class Settings:
    """Of a project, and what an earlier run has found out."""

    reaches_the_end: bool = False
    sends_no_truncates: bool = False
    refused_proofs: tuple[str, ...] = ()
    failed: Mapping[str, HoldReason] = field(default_factory=dict)
    marker_partitions: frozenset[tuple[str, int]] = frozenset()
    """Of the transaction topic, also those of which nothing has landed."""
    quiet_partitions: frozenset[tuple[str, int]] = frozenset()
    """Topics and partitions at whose ends Kafka has had nothing for long."""
    looks: Mapping[tuple[str, int], Look] = field(default_factory=dict)
    """Other looks at their ends."""


class Runs:
    """What the runs of a source have in common: a lake without Spark."""

    def __init__(
        self, source: str, not_ingested: Sequence[str] = (), *, is_in_order: bool = False
    ) -> None:
        self.source = source
        self.not_ingested = tuple(not_ingested)
        self.is_in_order = is_in_order
        self.settings = Settings()
        self.decisions: dict[str, Decided] = {}
        """What operators have decided, by transaction, or by `snapshot` and its place."""
        self.text: str | None = None
        """The state, as it is stored."""
        self.settled: dict[str, str | None] = {}
        """The table of verdicts: where each settled transaction stands."""
        self.settled_times: dict[str, int] = {}
        """Likewise when it was committed."""
        self.settled_snapshots: set[str] = set()
        """Likewise the places of settled snapshots."""
        self.start = ChainEnd()
        """Where the chain ended before the latest run."""
        self.rows: list[tuple[object, ...]] = []
        """That the latest run was given."""
        self.known = Known(source)
        self.before = State()
        """Likewise: both are what `judge_source` was given."""
        self.verdicts: list[Verdict] = []
        """Of transactions and snapshots, in the latest run."""
        self.units: list[UnitVerdict] = []
        self.judged: Judged | None = None
        """All that the latest run says."""
        self.reread = 0
        """How many messages the latest run was given because their units were open."""
        self._given: set[Delivery] = set()
        """Messages that the latest run was given: of open units they are kept for the next."""
        self._staged: dict[Delivery, Landed] = {}
        self._narrow: dict[Delivery, tuple[object, ...]] = {}
        self._of_unit: dict[Unit, set[Delivery]] = defaultdict(set)

    @property
    def end(self) -> ChainEnd:
        """Where the chain ends."""
        return decoded(self.source, self.text).end

    def run(self, landed: Iterable[Landed]) -> None:
        """Judge what is new and what is open.

        Args:
            landed: all that has landed, each delivery once or more often, in any order.

        Raises:
            DebeziumError: the judge refuses it.
        """
        sent = [*landed]
        self.before = decoded(self.source, self.text)
        given = self._stage(sent)
        new = len(given)
        waiting = {(one.kind, one.id) for one in self.before.open}
        given |= {
            at
            for at in self._given
            if unit_of(self._staged[at].flat) in waiting and not self._is_of_another(at)
        }
        self._given = given
        self.reread = len(given) - new
        self.rows = [self._narrow[at] for at in sorted(given)]
        self.known = self._known(given, sent)
        judged = judge_source(table_of(self.rows), self.before, self.known)
        self.judged = judged
        self.start, self.units = judged.start, judged.verdicts
        units = Counter((unit.unit_kind, unit.unit_id) for unit in judged.verdicts)
        twice = [unit for unit, count in units.items() if count > 1]
        assert not twice, f"messages would be there once for each verdict: {twice}"
        self.verdicts = [one for one in judged.links if one.outcome != "passed"]
        for unit in judged.verdicts:
            if unit.unit_kind == "transaction" and unit.verdict in SETTLING:
                self.settled[unit.unit_id] = unit.position
                if unit.committed_at is not None:
                    self.settled_times[unit.unit_id] = unit.committed_at
            elif unit.unit_kind == "transaction" and unit.verdict == "late":
                self.settled.setdefault(unit.unit_id, unit.position)
            elif unit.unit_kind == "snapshot" and unit.verdict in SETTLING:
                self.settled_snapshots.add(unit.unit_id)
        self.text = encoded(judged.state)

    def _as_given(self, row: tuple[object, ...], at: Delivery) -> tuple[object, ...]:
        """As the model proof hands it over."""
        values = dict(zip(COLUMNS.names, row, strict=True))
        if at[0].startswith(COPIES):
            return (*(values | {"source": self.source}).values(),)
        if not self._is_of_another(at):
            return row
        return (*(values | {"unit_kind": FOREIGN, "unit_id": None}).values(),)

    def _is_of_another(self, at: Delivery) -> bool:
        """Whether it is BEGIN of a connector of SQL Server, which names no database."""
        flat = self._staged[at].flat
        own = (self.source, f"{self.source}.{flat.database_name}", f"{COPIES}{self.source}")
        return flat.kind == "transaction_marker" and flat.source not in own

    def _stage(self, sent: Sequence[Landed]) -> set[Delivery]:
        """Keep what is new, and say what a run reads: it, and what was delivered again."""
        times = Counter(one[:3] for one in sent)
        given = set()
        for one in sent:
            at = one[:3]
            known = self._staged.get(at)
            is_new = known is None or (known.flat != one.flat and one.flat.kind != "quarantined")
            if is_new:
                self._staged[at] = one
                self._narrow[at] = self._as_given(narrow_row(one, landed_at=0), at)
                unit = unit_of(one.flat)
                if unit is not None:
                    self._of_unit[unit].add(at)
            if is_new or times[at] > 1:
                given.add(at)
        return given

    def _known(self, given: Iterable[Delivery], sent: Sequence[Landed]) -> Known:
        settings = self.settings
        some = (self._staged[at].flat.transaction_id for at in given)
        names = {one for one in some if one is not None}
        looked_at = settings.quiet_partitions | settings.marker_partitions
        ends: dict[tuple[str, int], int] = defaultdict(int)
        for topic, partition, offset, _ in sent:
            ends[topic, partition] = max(ends[topic, partition], offset + 1)
        return Known(
            self.source,
            evidence.Settings(
                settings.reaches_the_end,
                settings.sends_no_truncates,
                self.is_in_order,
                settings.refused_proofs,
                SILENCE,
                self.not_ingested,
            ),
            [_decision(what, decided) for what, decided in self.decisions.items()],
            {name: self.settled[name] for name in names if name in self.settled},
            self.settled_times,
            frozenset(self.settled_snapshots),
            settings.failed,
            topics={
                topic: Topic("transactions", is_leading=False)
                for topic, _ in ends
                if topic.startswith(COPIES)
            },
            looks={at: Look(ends[at], SILENCE) for at in looked_at} | settings.looks,
        )

    @property
    def marks(self) -> tuple[Facts, list[Link]]:
        """That the judge was given in the latest run."""
        found = evidence_of(table_of(self.rows), self.before, self.known)
        facts, links = evidence.collected(found)
        return facts, [*links]

    def flat(self, at: Delivery) -> Flat:
        """A message, as the reader reads it."""
        return self._staged[at].flat

    # --- rows, as int_change has them

    def changes_of(self, transaction_id: str) -> list[Flat]:
        """Of each change of a transaction its first copy, in their order (S3)."""
        members = self._members(transaction_id)
        firsts = self._first_copies(Unit("transaction", name) for name in members)
        orders = {flat.total_order for flat in firsts}
        if None not in orders and len(orders) == len(firsts):
            return sorted(firsts, key=lambda flat: flat.total_order or 0)
        return sorted(firsts, key=lambda flat: (flat.event_position or "", flat.total_order or 0))

    def reads_at(self, position: str) -> list[Flat]:
        """Of the snapshots that stand at a position and are published in the latest run."""
        places = [
            one.unit_id
            for one in self.units
            if one.unit_kind == "snapshot" and one.position == position and one.verdict == "commit"
        ]
        return self._first_copies(Unit("snapshot", at) for at in places)

    def _members(self, transaction_id: str) -> Iterable[str]:
        """The transactions that are published as one (decision 14)."""
        found = [one.unit_id for one in self.units if one.transaction_id == transaction_id]
        return dict.fromkeys([transaction_id, *found])

    def _first_copies(self, units: Iterable[Unit]) -> list[Flat]:
        found: dict[object, Flat] = {}
        for unit in units:
            for at in sorted(self._of_unit[unit]):
                flat = self._staged[at].flat
                if flat.kind == "change":
                    identity = (unit, flat.event_position, hashes_of(flat).event or at)
                    found.setdefault(identity, flat)
        return [*found.values()]


def collected(
    source: str, landed: Iterable[Landed], not_ingested: Sequence[str], *, is_in_order: bool = False
) -> tuple[Facts, list[Link]]:
    """The marks that the judge is given in the first run of a source.

    Args:
        source: its name.
        landed: each delivery once or more often, in any order.
        not_ingested: patterns of tables that END counts and that do not land.
        is_in_order: whether `watermark_sources` lists it.
    """
    rows = table_of(map(narrow_row, landed))
    settings = evidence.Settings(is_watermark=is_in_order, not_ingested=tuple(not_ingested))
    facts, links = evidence.collected(evidence_of(rows, State(), Known(source, settings)))
    return facts, [*links]


SETTLING = ("commit", "discarded", "superseded")


def _decision(what: str, decided: Decided) -> Decision:
    assert decided is not None
    place = what.removeprefix("snapshot ")
    if place != what:
        return Decision(decided, snapshot_position=place)
    return Decision(decided, transaction_id=what)
