"""Where messages stand that cannot be read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from histories.plan import Entry

Place = TypeVar("Place", int, tuple[int, int])


def gaps(
    partitions: Mapping[tuple[str, int], Sequence[Entry]],
    place_of: Callable[[Entry], Place | None],
    nowhere: Place,
    anywhere: Place,
) -> Iterator[tuple[Place, Place]]:
    """Behind what and before what each stands; a copy tells nothing of what is before it.

    Args:
        partitions: what has landed of the topics of tables.
        place_of: where a change stands among the others; None of what tells no place.
        nowhere: where one stands that nothing is before.
        anywhere: where one stands that nothing is behind.
    """
    firsts: dict[tuple[int | None, int | None], Entry] = {}
    for name in sorted(partitions):
        for entry in partitions[name]:
            if entry.kind == "event":
                firsts.setdefault((entry.transaction, entry.event), entry)
    no_copies = {id(entry) for entry in firsts.values()}
    for entries in partitions.values():
        for at, entry in enumerate(entries):
            if entry.kind != "garbage":
                continue
            behind = map(place_of, entries[:at])
            following = (
                place_of(one) for one in entries[at:] if one.kind != "event" or id(one) in no_copies
            )
            yield (
                max((place for place in behind if place is not None), default=nowhere),
                next((place for place in following if place is not None), anywhere),
            )
