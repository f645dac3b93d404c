"""The marks that the models collect, beside those that Python collects from the same messages."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace

import msgspec
from lake import Lake
from landed import Landed
from runs import collected

from dbt_debezium.judge.marks import KINDS, End, Event, Mark, Partition, Range, Table
from dbt_debezium.judged_marks import CHAIN_END, DECODERS


def marks(lake: Lake) -> dict[str, list[Mark]]:
    """The marks of each source in the latest run."""
    found = defaultdict(list)
    for source, kind, text in lake.rows("select source, kind, mark from build.int_mark"):
        if kind == CHAIN_END:
            continue
        unknown = msgspec.json.decode(str(text)).keys() - KINDS[str(kind)].__dataclass_fields__
        assert not unknown, f"{kind}: {unknown}"
        found[str(source)].append(DECODERS[str(kind)].decode(str(text)))
    return found


def other_marks(
    source: str, got: Iterable[Mark], landed: Iterable[Landed], not_ingested: list[str]
) -> Iterator[str]:
    """Marks of a source in its first run that only one of SQL and Python collects."""
    wanted = collected(source, landed, not_ingested)
    some, others = {*_compared(got)}, {*_compared(wanted)}
    yield from (f"{source}: only in SQL: {asdict(one)}" for one in some - others)
    yield from (f"{source}: only in Python: {asdict(one)}" for one in others - some)


def _compared(some: Iterable[Mark]) -> Iterator[Mark]:
    """Without what only one of the two says, and what no rule asks."""
    known = [*some]
    short = {
        one.transaction_id
        for one in known
        if isinstance(one, Table) and one.received_count < one.expected_count
    }
    ended = {one.transaction_id for one in known if isinstance(one, End)}
    topics = {one.topic for one in known if isinstance(one, Partition)}
    partitions = {one.partition for one in known if isinstance(one, Range) and one.is_of_markers}
    for one in known:
        match one:
            case Event() if one.transaction_id in short or one.transaction_id not in ended:
                continue  # it waits for the rest
            case Range() if not one.is_of_markers and one.topic not in topics:
                continue  # it holds neither tables nor markers
            case Table():
                yield replace(one, committed_at=None, log=None, log_number=None)
            case End() if {*one.surrounding_partitions} != partitions:
                yield replace(one, surrounding_partitions=())
            case _:
                yield one
