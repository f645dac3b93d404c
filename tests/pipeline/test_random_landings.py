"""Random sources of every connector in random landings: readers see only states that were.

Whole topics land late, parts land in another order than the log, a message is lost or comes last,
garbage stands in its place until it lands whole, and a connector that starts again sends its last
transactions again.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from arrivals import Arrival, write_arrivals
from compare import check_all_counts
from figures import record
from lake import Lake, open_lake, tables_of
from oracle import Row
from random_streams import (
    GARBAGE,
    Source,
    State,
    advance,
    counted_messages,
    draw,
    state_of,
)

from dbt_debezium.scaffold.captured import Group

SEED = 1
SETTINGS: dict[str, object] = {"generic_sources": {"*_informix": ["commit_lsn", "change_lsn"]}}


FAILED_ONCE = (
    # A read that is missing before a later change of its partition: a snapshot without it is shown.
    (937, 1_109),
    # Transactions before a snapshot that is shown, of which END has not landed: late records.
    (116, 187, 453, 780, 904, 1_119, 1_129),
    # BEGIN that lands behind its transaction: held for ever.
    (97, 150, 910),
    # A copy of BEGIN that lands before anything shows its source: counted for no source.
    (809,),
)


def draw_all(numbers: Iterable[int], part_count: int) -> list[Source]:
    return [draw(Random(f"{SEED} {number}"), number, part_count) for number in numbers]


def shown_states(lake: Lake) -> dict[str, State]:
    """What readers see of each source."""
    query = " union all ".join(
        f"select _change.source, '{table.table}', to_json(struct(* except (_change)))"
        f" from public.{table.model_name}"
        for table in lake.tables
    )
    tables: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for source, table, row in lake.rows(query):
        tables[str(source)][str(table)].append(json.loads(str(row)))
    return {source: state_of(rows) for source, rows in tables.items()}


def check_sources(folder: Path, sources: Sequence[Source]) -> None:
    """That no promise is broken after any landing; all sources land in lock-step, in a new lake."""
    messages = [message for one in sources for part in one.parts for message in part]
    readable = [message for message in messages if message["value"] != GARBAGE]
    tables = tables_of(readable, [Group("r*", "some")], SETTINGS)
    part_count = len(sources[0].parts)
    wrong: list[str] = []
    reached = dict.fromkeys((one.prefix for one in sources), 0)
    with open_lake(folder, tables, SETTINGS) as lake:
        for part in range(part_count):
            arrivals = [Arrival(one.prefix, one.parts[part], []) for one in sources]
            write_arrivals(folder / f"landing_{part}", arrivals, combined="all")
            lake.land(folder / f"landing_{part}")
            is_last = part + 1 == part_count
            if not lake.build(command="build" if is_last else "run"):
                wrong += lake.lines
                # What is wrong with the rows is seen without the project's tests.
                assert lake.build(command="run"), lake.lines
            shown, cuts = shown_states(lake), lake.cuts()
            landed = sum(len(messages) for one in sources for messages in one.parts[: part + 1])
            assert lake.counted() == landed, f"landing {part}"
            for one in sources:
                found = differences(one, part, reached, shown.get(one.name, {}), cuts)
                wrong += [f"{one.prefix} after landing {part}: {line}" for line in found]
            some = sum(place > 0 for place in reached.values())
            print(f"landing {part}: {some} of {len(sources)} sources show something")
    assert wrong == [], "\n".join(wrong)


def differences(
    one: Source,
    part: int,
    reached: dict[str, int],
    shown: State,
    cuts: Mapping[str, Row],
) -> Iterator[str]:
    yield from advance(one.prefix, one.states, shown, reached)
    landed = [message for messages in one.parts[: part + 1] for message in messages]
    yield from check_all_counts(cuts, one.prefix, counted_messages(one.prefix, landed))
    if one.is_whole and part + 1 == len(one.parts):
        last = len(one.states) - 1
        latest = max((at for at, state in enumerate(one.states) if state == shown), default=last)
        if latest < last - one.is_behind:
            yield f"shows {latest} of {last} at the end"
        held = {
            f"{item['transaction_id']} ({item['reason']})"
            for name in {one.prefix, one.name} & cuts.keys()
            for item in cuts[name]["held"]
        }
        if len(held) > one.is_behind:
            yield f"holds {sorted(held)} at the end"


def some_sources() -> list[Source]:
    """Those that `make slow` lands, in test_decisions.py."""
    numbers = [*range(84), *(number for some in FAILED_ONCE for number in some)]
    return draw_all(numbers, 3)


@pytest.mark.proof
def test_fifteen_hundred_sources_in_random_landings(tmp_path: Path) -> None:
    sources = draw_all(range(1_500), 3)
    check_sources(tmp_path, sources)
    record(
        "Random landings of every connector but CDL show only states that the source had",
        f"{len(sources):,} sources in 3 landings: 0 wrong, 0 held at the end, 0 lost",
        seed=SEED,
    )
