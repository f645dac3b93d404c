"""Changes of MySQL that name no transaction, in groups between known boundaries (decision 14).

Only places in the log order them. A transaction is known to end where the file ends or another
server begins to write, and around all that is a transaction by itself, or a snapshot.
"""

from collections.abc import Collection, Iterable
from itertools import groupby
from typing import NamedTuple

from dbt_debezium.evidence.facts import Control, Count, Stretch
from dbt_debezium.evidence.places import log_of


def is_lone(one: Count) -> bool:
    """Whether neither a GTID nor a transaction block says whose changes these are."""
    return not one.is_whole and not one.has_block and log_of(one.log_position) == "file"


class Groups(NamedTuple):
    """All that lies between two such boundaries is published together."""

    group_of: dict[str, str]
    """Of each lone transaction the last one of its group, which names the group."""
    boundary_of: dict[str, str | None]
    """Of each group where the next one begins; None before that has landed."""


def groups_of(
    lone: Collection[str], stretches: Iterable[Stretch], controls: Iterable[Control]
) -> Groups:
    """The groups of a source; none where each change names a transaction.

    Args:
        lone: transactions that are named by the place of their change alone.
        stretches: of the run.
        controls: likewise.
    """
    if not lone:
        return Groups({}, {})
    places = {
        (place, one.kind == "change" and one.unit_id in lone, one.unit_id or "")
        for one in stretches
        if one.kind in ("change", "read")
        for place in (one.first_place, one.last_place)
        if place
    }
    places |= {
        (one.position, False, "") for one in controls if one.kind == "statement" and one.position
    }
    runs = [[*some] for _, some in groupby(sorted(places), key=_writer)]
    group_of: dict[str, str] = {}
    boundary_of: dict[str, str | None] = {}
    for run, following in zip(runs, [*runs[1:], None], strict=True):
        if run[0][1]:
            name = run[-1][2]
            group_of |= {one[2]: name for one in run}
            boundary_of[name] = following[0][0] if following else None
    return Groups(group_of, boundary_of)


def _writer(place: tuple[str, bool, str]) -> tuple[object, ...]:
    """Neighbours of which this is equal may be of one transaction."""
    position, is_alone, name = place
    file, *_, server = position.split(":")
    return file, server, is_alone, "" if is_alone else name or position
