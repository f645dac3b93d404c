"""Small bar plots of the history of rounds, which the template draws as inline SVG."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from dbt_debezium.amounts import duration
from dbt_debezium.rounds.history import SPAN_SECONDS, Rounds, Span

BARS: Final = 144
"""At most, so that a page does not grow with time: a day in spans of ten minutes."""
HEIGHT: Final = 40
"""Of the highest bar."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its place from the left, its height, and what it stands for."""

    place: int
    height: float
    hint: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A value over time."""

    title: str
    highest: str
    bars: Sequence[Bar]
    count: int
    """How many places there are for bars."""
    is_bad: bool
    """Whether there is anything that should not be."""


def plots_of(rounds: Rounds, now: datetime, days: int) -> list[Plot]:
    """What rounds of the last days have done.

    Args:
        rounds: the history.
        now: when the page is made, UTC.
        days: how many.
    """
    # Whole spans in each bar.
    step = -(-days * 86_400 // BARS // SPAN_SECONDS) * SPAN_SECONDS
    count = days * 86_400 // step
    first = int(now.timestamp()) // step - count + 1
    spans: dict[int, list[Span]] = defaultdict(list)
    for span in rounds.since(first * step):
        spans[span.began // step - first].append(span)

    def plot(
        title: str,
        value: Callable[[list[Span]], float],
        text: Callable[[float], str],
        is_bad: bool = False,
    ) -> Plot:
        values = {place: value(found) for place, found in sorted(spans.items())}
        highest = max(values.values(), default=0.0)
        bars = [
            Bar(
                place,
                round(HEIGHT * number / highest, 1),
                f"{datetime.fromtimestamp((first + place) * step, UTC):%m-%d %H:%M} {text(number)}",
            )
            for place, number in values.items()
            if number > 0
        ]
        return Plot(title, text(highest), bars, count, is_bad and highest > 0)

    count_text = "{:,.0f}".format
    return [
        plot("readers behind", lambda found: max(one.behind for one in found), duration),
        plot("held transactions", lambda found: max(one.held for one in found), count_text),
        plot("published commits", lambda found: sum(one.commits for one in found), count_text),
        plot("failed rounds", lambda found: sum(one.failed for one in found), count_text, True),
    ]
