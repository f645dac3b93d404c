"""What became of each unit of a run, and how far each partition has come: what a run writes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from dbt_debezium.evidence.facts import Stretch
from dbt_debezium.evidence.settle import Settlement
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.judge import marks
from dbt_debezium.judge.verdicts import (
    Commit,
    Discarded,
    Hold,
    HoldReason,
    LinkKind,
    Passed,
    Proof,
    Superseded,
    Verdict,
)
from dbt_debezium.units import UnitKind

Outcome: TypeAlias = Literal["commit", "hold", "superseded", "discarded", "passed", "late"]


class UnitVerdict(NamedTuple):
    """One row per unit of a run: a message joins it by `unit_kind` and `unit_id`.

    Some rows are of no unit of this run: a transaction of which only END has landed has a verdict,
    and so have the members of a group (decision 14).
    """

    unit_kind: UnitKind
    unit_id: str
    verdict: Outcome
    link_number: int | None = None
    """Its place in the order of the chain; None of what is in no chain."""
    link_kind: LinkKind | Literal["message"] | None = None
    transaction_id: str | None = None
    position: str | None = None
    read_position: str | None = None
    held_reason: HoldReason | None = None
    lacking_topics: tuple[str, ...] = ()
    proof: Proof | None = None
    commit_number: int | None = None
    """Of its commit, or of the one in front of it that is the newest."""
    committed_at: int | None = None
    """In microseconds, by the source's clock."""


class Progress(NamedTuple):
    """One row per partition: how far it has come."""

    topic: str
    partition: int
    ranges: tuple[tuple[int, int], ...]
    """Runs of offsets that have landed without a gap, first and last."""
    reached_place: str | None
    has_changes: bool


def unit_verdicts(
    evidence: SourceEvidence, settlement: Settlement, verdicts: Sequence[Verdict]
) -> Iterator[UnitVerdict]:
    """The verdict on each unit.

    Args:
        evidence: of the run.
        settlement: what it settles.
        verdicts: of the judge, in the order of the chain.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for name, group in evidence.groups.group_of.items():
        members[group].append(name)
    statements = {
        one.transaction_id: one.position
        for one in evidence.facts.controls
        if one.kind == "statement" and one.transaction_id is not None and one.position is not None
    }
    links = [_of_link(number, one) for number, one in enumerate(verdicts)]
    for one in links:
        place = statements.get(one.transaction_id) if one.transaction_id else None
        if place is not None:
            yield one._replace(unit_kind="statement", unit_id=place)
        for name in members.get(one.unit_id, ()) if one.unit_kind == "transaction" else ():
            if name != one.unit_id:
                yield one._replace(unit_id=name)
        yield one
    judged = {one.unit_id for one in links if one.unit_kind == "transaction"}
    yield from _late(evidence, settlement, judged)
    yield from _windows(evidence, links)


def _of_link(number: int, verdict: Verdict) -> UnitVerdict:
    kind: UnitKind = "snapshot"
    unit_id = ""
    read_position = None if isinstance(verdict, Passed) else verdict.read_position
    if verdict.kind == "message":
        kind, unit_id = "message", verdict.position or ""
    elif verdict.kind == "transaction":
        kind, unit_id = "transaction", verdict.transaction_id or ""
    else:
        unit_id = read_position or verdict.position or ""
    found = UnitVerdict(
        kind,
        unit_id,
        "commit",
        number,
        verdict.kind,
        verdict.transaction_id,
        verdict.position,
        read_position,
    )
    match verdict:
        case Commit():
            return found._replace(
                proof=verdict.proof,
                commit_number=verdict.chain_end.commit_number,
                committed_at=verdict.committed_at,
            )
        case Discarded():
            number_before = verdict.chain_end.commit_number
            return found._replace(verdict="discarded", commit_number=number_before)
        case Superseded():
            return found._replace(verdict="superseded")
        case Passed():
            return found._replace(verdict="passed", committed_at=verdict.committed_at)
        case Hold():
            return found._replace(
                verdict="hold", held_reason=verdict.reason, lacking_topics=verdict.lacking_topics
            )


def _late(
    evidence: SourceEvidence, settlement: Settlement, judged: set[str]
) -> Iterator[UnitVerdict]:
    """Units that were settled before this run, or lie behind its end."""
    names = {one.link or "" for one in evidence.late_stretches()}
    names |= {one.transaction_id for one in evidence.late_markers}
    for name in sorted({*names, *settlement.late} - judged):
        position = settlement.late.get(name, evidence.known.settled.get(name))
        yield UnitVerdict("transaction", name, "late", transaction_id=name, position=position)
    snapshots = {one.link or "" for one in evidence.facts.stretches if one.kind == "read"}
    for at in sorted(snapshots - {*evidence.reads}):
        yield UnitVerdict("snapshot", at, "late", read_position=at)


def _windows(evidence: SourceEvidence, links: Iterable[UnitVerdict]) -> Iterator[UnitVerdict]:
    """Reads of a window are published with the transaction that closes it (S6): the first one
    behind the commit that they name, or at or behind their own place in the log."""
    windows: dict[str, Stretch] = {}
    for one in evidence.facts.stretches:
        if one.kind == "window":
            windows.setdefault(one.link or "", one)
    if not windows:
        return
    chain = [one for one in links if one.link_kind == "transaction"]
    for unit_id, one in sorted(windows.items()):
        if not evidence.is_open_window(one):
            yield UnitVerdict("window", unit_id, "late")
            continue
        closing = next((link for link in chain if _closes(evidence, one, link)), None)
        if closing is None:
            yield UnitVerdict("window", unit_id, "hold", held_reason="unproven_reads")
        else:
            yield closing._replace(unit_kind="window", unit_id=unit_id)


def _closes(evidence: SourceEvidence, window: Stretch, link: UnitVerdict) -> bool:
    position = link.position
    if evidence.names_predecessor:
        return position is not None and position > (window.previous or "")
    if evidence.traits and evidence.traits.change_place == "commit":
        return position is not None and position >= (window.commit_position or "")
    sent = evidence.sent.get(link.unit_id)
    if sent is None:
        return False
    if sent.log_position is not None and sent.log_position == window.link:
        return True
    return (sent.last or "") >= (window.last_place or "~")


def progress(found: Iterable[marks.Mark]) -> Iterator[Progress]:
    """How far each partition has come, by the marks of a run."""
    ranges: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    lines: dict[tuple[str, int], marks.Partition] = {}
    for one in found:
        match one:
            case marks.Range():
                ranges[one.topic, one.partition].append((one.first_offset, one.last_offset))
            case marks.Partition():
                lines[one.topic, one.partition] = one
    for place in sorted({*ranges, *lines}):
        line = lines.get(place)
        yield Progress(
            *place,
            tuple(ranges[place]),
            line.reached_place if line else None,
            bool(line and line.has_changes),
        )
