"""Random sources of every connector in random landings show only states that were. No Spark.

The sources are those of tests/pipeline/test_random_landings.py, which lands them with Spark.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest
from landed import Landed, flattened
from random_streams import Source, advance, draw
from readers import Readers
from test_random_landings import FAILED_ONCE, SEED

from dbt_debezium.settings import Settings

SETTINGS = Settings(generic_sources={"*_informix": ("commit_lsn", "change_lsn")})
PARTS = 3


def draw_all(numbers: Sequence[int]) -> Iterator[Source]:
    for number in numbers:
        yield draw(Random(f"{SEED} {number}"), number, PARTS)


def differences(source: Source) -> Iterator[str]:
    """What is wrong after each landing, and at the end."""
    readers, landed = Readers(source.name), []
    reached = {source.name: 0}
    for at, part in enumerate(source.parts):
        landed += [flattened(message, SETTINGS) for message in part]
        readers.see(landed)
        for line in advance(source.name, source.states, readers.state, reached):
            yield f"{source.name}, landing {at}: {line}"
    held = [one for one in readers.verdicts if one.outcome == "hold"]
    if source.is_whole:
        last = len(source.states) - 1
        shown = [at for at, state in enumerate(source.states) if state == readers.state]
        latest = max(shown, default=last)
        if latest < last - source.is_behind or len(held) > source.is_behind:
            yield f"{source.name}: shows {latest} of {last} at the end, holds {held[:3]}"
        yield from differences_at_the_end(source, readers, landed)


def differences_at_the_end(
    source: Source, readers: Readers, landed: Sequence[Landed]
) -> Iterator[str]:
    """What is wrong once the landing says that it reaches the end of what was sent.

    Db2's last transaction has no END then, and waits for good.
    """
    readers.settings = replace(readers.settings, reaches_the_end=True)
    readers.see(landed)
    held = [one for one in readers.verdicts if one.outcome == "hold"]
    has_end = not source.name.endswith("db2")
    if has_end and (readers.state != source.states[-1] or held):
        yield f"{source.name}: the end is not shown, holds {held[:3]}"


def all_differences(numbers: Sequence[int]) -> list[str]:
    return [line for source in draw_all(numbers) for line in differences(source)]


def test_readers_see_only_states_that_were() -> None:
    numbers = [*range(84), *(number for some in FAILED_ONCE for number in some)]
    assert all_differences(numbers) == []


@pytest.mark.proof
def test_readers_see_only_states_that_were_of_all() -> None:
    assert all_differences(range(3_000)) == []
