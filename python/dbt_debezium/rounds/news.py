"""Whether a build could change what is published, decided without Spark.

A published run leaves a mark in the catalog: what the project was, what all tables were, and how
far topics had landed. While all three are the same, the next build would make the same tables.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from dbt_debezium.rounds.behind import KEPT_HOLDS, Hold
from dbt_debezium.rounds.catalog import Catalog

SAME_RESULT: Final = frozenset({"--vars", "--threads"})
"""Options of dbt under which one build is like the one before it."""


class Mark(msgspec.Struct, frozen=True):
    """The note of a run that published, as JSON."""

    at: str
    """When, UTC."""
    project: str
    """See `fingerprint`."""
    state: str
    """See `Catalog.state`, after the run."""
    ends: dict[str, str] = {}
    """See `Landing.ends`."""
    look_again_at: float | None = None
    """While a snapshot is held: `Landing.look_again_at`."""
    holds: list[Hold] = []
    """What that run left held, of the sources that have held longest."""


def published_mark(catalog: Catalog | None, project: str | None) -> Mark | None:
    """The mark of the last run that published, if neither tables nor project have changed since."""
    text = catalog.mark() if catalog else None
    if catalog is None or text is None:
        return None
    try:
        mark = msgspec.json.decode(text, type=Mark)
    except msgspec.MsgspecError:
        return None
    is_same = mark.project == project and mark.state == catalog.state()
    return mark if is_same else None


def new_mark(
    project: str,
    state: str,
    ends: Mapping[str, str],
    at: str | None = None,
    look_again_at: float | None = None,
    holds: Sequence[Hold] = (),
) -> Mark:
    """The mark of a run that published at a moment, by default now."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Mark(at or now, project, state, dict(ends), look_again_at, [*holds[:KEPT_HOLDS]])


def always_builds(options: Sequence[str]) -> bool:
    """Whether options for dbt ask for a build that does more than bring in news.

    >>> always_builds(["--vars", "{a: 1}"]), always_builds(["--full-refresh"])
    (False, True)
    """
    names = {option.partition("=")[0] for option in options if option.startswith("-")}
    return not names <= SAME_RESULT
