"""Sources with the default settings show only states that were, and all when told. No Spark.

They have no transaction metadata, and some servers of MySQL no GTIDs. The sources are those of
tests/pipeline/test_defaults.py: the first landing ends where a transaction does and says that it
reaches the end, the second ends anywhere, and the third brings the rest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest
from landed import flattened
from random_streams import Source, advance
from readers import Readers
from test_defaults import SEED, draw


def differences(source: Source, step: int) -> Iterator[str]:
    """What is wrong after each landing.

    Args:
        source: with three parts.
        step: the last one of the first part.
    """
    readers, landed, reached = Readers(source.name), [], {source.name: 0}
    for part, told in enumerate((step, None, len(source.states) - 1)):
        landed += [flattened(message) for message in source.parts[part]]
        readers.settings = replace(readers.settings, reaches_the_end=part != 1)
        readers.see(landed)
        for line in advance(source.name, source.states, readers.state, reached):
            yield f"{source.name}, landing {part}: {line}"
        held = [one for one in readers.verdicts if one.outcome == "hold"]
        if told is not None and (readers.state != source.states[told] or held):
            yield f"{source.name}, landing {part}: does not show step {told}, holds {held[:2]}"


def all_differences(numbers: Sequence[int]) -> list[str]:
    sources = (draw(Random(f"{SEED} {number}"), number) for number in numbers)
    return [line for source, step in sources for line in differences(source, step)]


def test_default_streams_show_only_states_that_were_and_all_when_told() -> None:
    assert all_differences(range(70)) == []


@pytest.mark.proof
def test_all_default_streams_show_only_states_that_were() -> None:
    assert all_differences(range(2_000)) == []
