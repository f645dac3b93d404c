"""The judge: which commits of a source may be shown, and why others wait.

Marks of one source in, verdicts out (`marks.py`, `verdicts.py`); no Spark, no clock, no disk. The
same marks give the same verdicts. It holds in memory the facts of the source, which are few, and
one transaction at a time.

Each module answers one question:

- `transaction`: is a transaction whole? With `restart`: does a restart explain its numbers?
- `uncounted`: is one complete whose changes nothing counts?
- `snapshot`: have all reads of a snapshot landed?
- `partitions`: have all partitions moved on past a commit?
- `markers`: is a transaction missing between two ENDs?
- `accounting`: may a TRUNCATE be missing that no END counts?
- `predecessor`: does a transaction follow the newest commit?
- `decisions`: what have operators decided?
- `unread`: what may a message be that cannot be read?
- `holds`: why does a link wait?
- `chain`: what does each link become? With `horizon`: which commits are states of the source,
  where a blocking snapshot has read its rows later than it stands?

`traits` has in what connectors differ. `evidence` makes the marks from the messages of a
source, and asks the judge (docs/decisions/0027-a-message-names-its-unit.md). Tests hold it to a law
that does not know it (tests/pipeline/histories/law.py), or to what the source held where no law
says what can be proved.

The judge knows no rows: what a published transaction would contradict (S17), the models see.
"""

from collections.abc import Iterable, Iterator

from dbt_debezium.judge.chain import Chain
from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.marks import Facts, Link
from dbt_debezium.judge.verdicts import ChainEnd, Verdict

__all__ = ["ChainEnd", "Verdict", "judge"]


def judge(facts: Facts, links: Iterable[Link], end: ChainEnd) -> Iterator[Verdict]:
    """Judge the chain of one source.

    Args:
        facts: of the source.
        links: in the order of `marks.place_of`.
        end: where the published chain ends.

    Returns:
        One verdict per transaction and snapshot after that end, one per initial snapshot before
        it (`late_snapshot`), and one per message or DDL that the chain has passed; none of a
        blocking snapshot that waits for a commit after its reads. Commits come in their order. The
        newest that has a `chain_end` has where the chain ends with it, which the next run is given.
    """
    yield from Chain(Evidence(facts, end), end).verdicts(links)
