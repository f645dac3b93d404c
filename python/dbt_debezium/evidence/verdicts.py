"""What became of each unit of a run: what a run writes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from dbt_debezium.evidence.facts import Stretch
from dbt_debezium.evidence.places import log_number
from dbt_debezium.evidence.settle import Settlement
from dbt_debezium.evidence.shown import Counts, Miscounted, Shown
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.judge.marks import Facts
from dbt_debezium.judge.places import EVERYWHERE
from dbt_debezium.judge.verdicts import SETTLING, LinkKind, Outcome, Proof, Verdict
from dbt_debezium.messages.units import UnitKind
from dbt_debezium.reasons.hold_reason import HoldReason


class UnitVerdict(NamedTuple):
    """One row per unit of a run: a message joins it by `unit_kind` and `unit_id`.

    Some rows are of no unit of this run: a transaction of which only END has landed has a verdict,
    and so have the members of a group (decision 14).
    """

    unit_kind: UnitKind
    unit_id: str
    verdict: Outcome | Literal["late"]
    link_kind: LinkKind | None = None
    transaction_id: str | None = None
    position: str | None = None
    read_position: str | None = None
    held_reason: HoldReason | None = None
    proof: Proof | None = None
    commit_number: int | None = None
    """Of its commit, or of the one before it that is the newest."""
    committed_at: int | None = None
    """In microseconds, by the source's clock."""
    has_reset_counters: bool = False
    """Whether its numbers show no order, so that places do (S3)."""
    log_order: str | None = None
    """What it is sorted by among what waits: its position, or what it lies after."""
    event_count: int | None = None
    """Changes that END counts, or reads that have landed."""
    miscounted_tables: tuple[Miscounted, ...] = ()
    """Of one with END whose counts differ, or of a snapshot that lacks reads."""

    @property
    def is_settled(self) -> bool:
        """Whether no later run says anything else of it."""
        return self.verdict == "late" or self.verdict in SETTLING


def link_verdicts(
    evidence: SourceEvidence, facts: Facts, verdicts: Sequence[Verdict], counts: Counts
) -> list[UnitVerdict]:
    """The verdict on each link of the chain.

    Args:
        evidence: of the run.
        facts: that the judge was given.
        verdicts: of the judge, in the order of the chain.
        counts: what was noted of transactions.
    """
    shown = Shown(evidence, facts, counts)
    return [_of_link(one, shown) for one in verdicts]


def unit_verdicts(
    evidence: SourceEvidence, settlement: Settlement, links: Sequence[UnitVerdict]
) -> Iterator[UnitVerdict]:
    """The verdict on each unit but windows; those of the chain first, in its order.

    Args:
        evidence: of the run.
        settlement: what it settles.
        links: verdicts on links of the chain.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for name, group in evidence.groups.group_of.items():
        members[group].append(name)
    statements = {
        one.transaction_id: one.position
        for one in evidence.facts.controls
        if one.kind == "statement"
    }
    judged_places: set[str] = set()
    """Of statements. Two servers may have one each at the same place."""
    for one in links:
        place = statements.get(one.transaction_id) if one.transaction_id else None
        if place is not None and place not in judged_places:
            judged_places.add(place)
            yield one._replace(unit_kind="statement", unit_id=place)
        for name in members.get(one.unit_id, ()) if one.unit_kind == "transaction" else ():
            if name != one.unit_id:
                yield one._replace(unit_id=name)
        yield one
    judged = {one.unit_id for one in links if one.unit_kind == "transaction"}
    yield from _late(evidence, settlement, judged)


def _of_link(verdict: Verdict, shown: Shown) -> UnitVerdict:
    kind: UnitKind = "snapshot"
    unit_id = verdict.read_position or verdict.position or ""
    if verdict.kind == "message":
        kind = "message"
    elif verdict.kind == "transaction":
        kind, unit_id = "transaction", verdict.transaction_id or ""
    return UnitVerdict(
        kind,
        unit_id,
        verdict.outcome,
        verdict.kind,
        verdict.transaction_id,
        verdict.position,
        verdict.read_position,
        proof=verdict.proof,
        commit_number=None if verdict.chain_end is None else verdict.chain_end.commit_number,
        **shown.of(verdict),
    )


def _late(
    evidence: SourceEvidence, settlement: Settlement, judged: set[str]
) -> Iterator[UnitVerdict]:
    """Units that were settled before this run, or lie before the chain's end."""
    names = {one.unit_id or "" for one in evidence.landed.late}
    names |= {one.transaction_id for one in evidence.late_markers}
    for name in sorted({*names, *settlement.late} - judged):
        position = settlement.late.get(name, evidence.known.settled.get(name))
        yield UnitVerdict("transaction", name, "late", transaction_id=name, position=position)
    snapshots = {one.unit_id or "" for one in evidence.facts.stretches.where("kind", "read")}
    for at in sorted(snapshots - {*evidence.reads}):
        yield UnitVerdict("snapshot", at, "late", read_position=at)


def window_verdicts(
    evidence: SourceEvidence, links: Iterable[UnitVerdict]
) -> Iterator[UnitVerdict]:
    """The verdict on each window. Its reads are published with the transaction that closes it (S6):
    the first one after the commit that they name, or at or after their own place in the log."""
    windows: dict[str, Stretch] = {}
    for one in evidence.facts.stretches.where("kind", "window"):
        windows.setdefault(one.unit_id or "", one)
    if not windows:
        return
    chain = [one for one in links if one.link_kind == "transaction"]
    for unit_id, one in sorted(windows.items()):
        if not evidence.is_open_window(one):
            yield UnitVerdict("window", unit_id, "late")
            continue
        named = next((link for link in chain if _is_named(evidence, one, link)), None)
        closing = named or next((link for link in chain if _closes(evidence, one, link)), None)
        if closing is None:
            yield UnitVerdict("window", unit_id, "hold", held_reason="snapshot_unconfirmed")
        else:
            yield closing._replace(unit_kind="window", unit_id=unit_id)


def _closes(evidence: SourceEvidence, window: Stretch, link: UnitVerdict) -> bool:
    position = link.position
    if evidence.names_predecessor:
        return position is not None and position > (window.previous or "")
    if evidence.traits and evidence.traits.change_place == "commit":
        return position is not None and position >= (window.commit_position or "")
    return (evidence.sent[link.unit_id].last or "") >= (window.last_place or EVERYWHERE)


def _is_named(evidence: SourceEvidence, window: Stretch, link: UnitVerdict) -> bool:
    """Whether reads name a transaction by its number in the log."""
    named = log_number(window.unit_id)
    return named is not None and evidence.sent[link.unit_id].log_position == window.unit_id
