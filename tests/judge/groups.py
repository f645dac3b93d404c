"""Changes of MySQL that name no transaction, in groups as `stg_change_group` has them. No Spark.

Only places in the log order them. A transaction is known to end where the file ends or another
server begins to write, and around all that is a transaction by itself, or a snapshot (decision 14).
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from dbt_debezium.flat import Flat


class Group(NamedTuple):
    """All changes between two such places."""

    transaction_id: str
    """Of its last change."""
    boundary_place: str | None
    """Where the next one begins; None before that has landed."""


def is_lone(flat: Flat) -> bool:
    """Whether neither a GTID nor a transaction block says whose a change is."""
    return (
        flat.kind == "change"
        and flat.snapshot is None
        and not flat.is_whole_transaction
        and flat.total_order is None
        and (flat.log_position or "").startswith("file#")
    )


def groups_of(flats: Iterable[Flat]) -> dict[str, Group]:
    """The group of each change, by the id that the change has alone."""
    places = sorted(
        {
            (flat.event_position or "", is_lone(flat), flat.transaction_id or "")
            for flat in flats
            if flat.connector in ("mysql", "mariadb")
            and flat.kind in ("change", "schema_change")
            and flat.event_position is not None
            and flat.snapshot != "incremental"
        }
    )
    found = {}
    runs = [[*some] for _, some in groupby(places, key=_writer)]
    for at, run in enumerate(runs):
        if run[0][1]:
            boundary = runs[at + 1][0][0] if at + 1 < len(runs) else None
            found |= {one[2]: Group(run[-1][2], boundary) for one in run}
    return found


def _writer(place: tuple[str, bool, str]) -> tuple[object, ...]:
    """Neighbours of which this is equal may be of one transaction."""
    position, alone, transaction_id = place
    file, *_, server = position.split(":")
    return file, server, alone, "" if alone else transaction_id or position
