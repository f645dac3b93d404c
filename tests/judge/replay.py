"""A history's messages, landed in parts, and where the judge's chain then ends. No Spark."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from histories.history import Case
from histories.messages import messages, source_name
from histories.plan import AUDIT, Entry, Plan
from landed import Landed, flattened
from runs import Runs, collected

from dbt_debezium.judge import Verdict
from dbt_debezium.judge.marks import Facts, Link
from dbt_debezium.settings import Settings

OFFSETS = ("mysql",)
"""Connectors whose positions are offsets of END, of which the source knows nothing."""


class Shown(NamedTuple):
    """The newest commit that readers may see."""

    commit_number: int | None
    """None where the law does not say."""
    commit_position: str | None
    """None for a snapshot."""
    transaction_id: str | None
    proof: str


@dataclass(frozen=True)
class Sent:
    """A message with what the history knows of it."""

    entry: Entry
    landed: Landed


def sent_messages(plan: Plan) -> list[Sent]:
    """All messages of a history, in the order of sending."""
    # Messages of CDL 1.0 name no source.
    settings = Settings(cdl_sources={f"{plan.name}.*": plan.name})
    return [Sent(entry, flattened(message, settings)) for entry, message in messages(plan)]


def landings(case: Case) -> Iterator[list[Landed]]:
    """All that has landed after each of a history's landings."""
    sent = sent_messages(case.plan)
    for landing in range(case.plan.landing_count):
        yield [
            one.landed
            for one in sent
            if one.entry.landing is not None and one.entry.landing <= landing
        ]


def runs_of(plan: Plan) -> Runs:
    """Runs of a history's source, under the settings that histories are built with."""
    is_in_order = plan.proof == "watermark"
    return Runs(source_name(plan), [f"public.{AUDIT}"], is_in_order=is_in_order)


def marks_of(plan: Plan, landed: Sequence[Landed]) -> tuple[Facts, list[Link]]:
    """The marks of a history's source, under the settings that histories are built with."""
    is_in_order = plan.proof == "watermark"
    return collected(source_name(plan), landed, [f"public.{AUDIT}"], is_in_order=is_in_order)


def commits(plan: Plan, parts: Iterable[Sequence[Landed]]) -> Iterator[list[Verdict]]:
    """The commits that are new after each part.

    Args:
        plan: of the history.
        parts: after each landing all that has landed, as models collect it anew in each run.
    """
    runs = runs_of(plan)
    for part in parts:
        runs.run(part)
        yield [one for one in runs.verdicts if one.outcome == "commit"]


def shown(plan: Plan, commit: Verdict | None) -> Shown | None:
    """A commit as the law describes it."""
    if commit is None:
        return None
    has_position = commit.kind == "transaction" and plan.connector not in OFFSETS
    position = _plain(commit.position) if has_position else None
    number = commit.chain_end.commit_number
    return Shown(number, position, commit.transaction_id, commit.proof)


def expected(case: Case) -> Iterator[Shown | None]:
    """What the law says after each landing."""
    for cut in case.cuts:
        if cut is None:
            yield None
            continue
        position = cut.commit_position and _plain(cut.commit_position)
        if position and case.plan.connector == "cdl":
            position = position.rpartition("/")[2]  # the offset alone is the order
        yield Shown(cut.commit_number, position, cut.transaction_id, cut.proof)


def compared(case: Case) -> Iterator[tuple[int, Shown | None, Shown | None]]:
    """Each landing with the commit that readers see, and the one that the law says. Where the law
    knows no number, neither has one."""
    newest = None
    parts = commits(case.plan, landings(case))
    for landing, (new, law) in enumerate(zip(parts, expected(case), strict=True)):
        newest = new[-1] if new else newest
        got = shown(case.plan, newest)
        if got is not None and law is not None and law.commit_number is None:
            got = got._replace(commit_number=None)
        yield landing, got, law


def _plain(position: str) -> str:
    """Numbers without the zeros that give them one width."""
    return "/".join(part.lstrip("0") or "0" for part in position.split("/"))
