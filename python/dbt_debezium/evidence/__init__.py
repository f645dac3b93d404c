"""Evidence: what the messages of a source show of its transactions, snapshots and partitions.

`judge_source` groups the narrow rows of one source, places its transactions, and asks the judge.
It is pure: no Spark, no clock, no disk. The same rows and state give the same verdicts, and a run
that is given its state, what has landed since and what is open says what a run says that is given
all that ever landed.

Each module answers one question:

- `narrow`: what does it need of a message? With `known`: and of what a run knows beside messages?
- `groups`: how many changes, and where in which partition? With `facts`.
- `state`: what lasts from run to run? With `settle`: what does a run settle?
- `late`: what is settled and lands again?
- `transactions`, `by_predecessor`, `by_end`, `unnamed`: where does a transaction stand?
- `partitions`: how far have partitions come?
- `snapshots`: which reads are of which snapshot, and what lies around them?
- `topics`: whose BEGIN and END does a topic hold? With `lake_topics`: and whose are all topics?
- `places`: how do positions compare?
- `source`: all of it together, and why is a transaction not where it was committed? With
  `landed`: what has landed in each partition?
- `fact_marks`, `link_marks`: what is the judge given?
- `verdicts`: what became of each unit? With `shown`: what does its row show?
- `outcomes`: what became of each message?
- `progress`: how far has each partition come, for whoever asks?
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

from dbt_debezium.errors import DebeziumError
from dbt_debezium.evidence.fact_marks import fact_marks
from dbt_debezium.evidence.facts import Control
from dbt_debezium.evidence.groups import coded, grouped, landed_readable
from dbt_debezium.evidence.known import Known, Look, Settings
from dbt_debezium.evidence.link_marks import LinkMarks
from dbt_debezium.evidence.narrow import COLUMNS
from dbt_debezium.evidence.outcomes import OUTCOMES, outcome_counts
from dbt_debezium.evidence.progress import Progress, progress
from dbt_debezium.evidence.settle import Settlement, known_end
from dbt_debezium.evidence.shown import Counts, Miscounted
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.evidence.state import State, decoded, encoded
from dbt_debezium.evidence.topics import Topic
from dbt_debezium.evidence.verdicts import (
    UnitVerdict,
    link_verdicts,
    unit_verdicts,
    window_verdicts,
)
from dbt_debezium.judge import ChainEnd, Verdict, judge
from dbt_debezium.judge.marks import Facts, Link, Range

__all__ = [
    "COLUMNS",
    "OUTCOMES",
    "Judged",
    "Known",
    "Look",
    "Miscounted",
    "Progress",
    "Settings",
    "State",
    "Topic",
    "UnitVerdict",
    "collected",
    "decoded",
    "encoded",
    "evidence_of",
    "judge_source",
]


@dataclass(frozen=True)
class Judged:
    """What a run says of a source."""

    verdicts: list[UnitVerdict]
    """On each unit of the run; those of the chain first, in its order."""
    progress: list[Progress]
    """Of each partition."""
    state: State
    """For the next run."""
    start: ChainEnd
    """Where the chain ended before the run, as the judge was given it."""
    links: list[Verdict]
    """What the judge said, in the order of the chain."""
    outcomes: pa.Table
    """With the columns of `OUTCOMES`: how many of the rows of each partition have which outcome.
    Those that are `held` are given to the next run again, all others are settled."""


def evidence_of(rows: pa.Table, state: State, known: Known) -> SourceEvidence:
    """What the rows and the state of a source show. The arguments are those of `judge_source`."""
    unread = [(*one.key, some) for one in state.partitions for some in one.unplaced]
    facts = grouped(rows)
    own = {one.key for one in state.partitions}
    for line in (line for one in known.earlier for line in one.partitions):
        if line.topic in known.topics and line.key not in own:
            facts.ranges.extend(Range(*line.key, run.first, run.last) for run in line.runs)
            facts.controls.extend(Control(*line.key, at, "unreadable") for at in line.unplaced)
    return SourceEvidence(facts, known, state, landed_readable(rows, unread))


def collected(evidence: SourceEvidence) -> tuple[Facts, Iterator[Link]]:
    """The marks of a source: its facts, and links in the order of the chain."""
    return fact_marks(evidence), LinkMarks(evidence).collected()


def judge_source(rows: pa.Table, state: State, known: Known) -> Judged:
    """Judge one source in one run.

    Args:
        rows: one per delivery, with the columns of `COLUMNS`, in any order: what has landed since
            the last run, and all messages of the units that `state.open` names. Deliveries may
            repeat. A message of another source in a topic that this one sends to has the kind
            `foreign` and no unit. BEGIN, END and what cannot be read keep their kind there, and
            have the unit kind `foreign`. Texts may be dictionary-coded (`groups.coded`), a batch at
            a time.
        state: of the run before; `State()` before the first.
        known: what else the run knows. `known.settled` needs each `transaction_id` of the rows that
            has a verdict of an earlier run, `known.settled_snapshots` each `unit_id` of a snapshot.

    Returns:
        Verdicts by unit, progress by partition, and the next state. Whoever stores it stores all
        three together, so that a run which dies changes nothing.

    Raises:
        DebeziumError: a setting has changed that says what positions are.
    """
    rows = coded(rows).unify_dictionaries()
    evidence = evidence_of(rows, state, known)
    if state.end != ChainEnd() and state.is_in_order != evidence.is_in_order:
        raise DebeziumError(
            f"{known.source}: watermark_sources lists it since the last run, or no "
            "more, so its positions are of another kind than the published ones; run once with "
            "--full-refresh"
        )
    start = known_end(evidence)
    facts, marks = collected(evidence)
    counts = Counts()
    links = [*judge(facts, counts.noted(marks), start)]
    judged = link_verdicts(evidence, facts, links, counts)
    windows = [*window_verdicts(evidence, judged)]
    closed = {one.unit_id for one in windows if one.is_settled}
    settlement = Settlement(evidence, start, links, closed)
    found = [*unit_verdicts(evidence, settlement, judged), *windows]
    following = settlement.state()
    reached = [*progress(evidence, facts, following.partitions)]
    waiting = {(one.kind, one.id) for one in following.open}
    outcomes = outcome_counts(rows, evidence.facts.again, found, waiting)
    return Judged(found, reached, following, start, links, outcomes)
