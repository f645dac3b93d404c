"""What has landed, landed anew in other parts. No Spark."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import deepcopy
from random import Random
from typing import Final

from histories.plan import Plan
from landed import Landed

SPLITS: Final = ("cut", "late", "any", "each")
"""Each partition advances on its own; a tenth lands later; any order; message by message, almost.

Histories land as they were drawn, too (test_law)."""
MOST_PARTS: Final = 40
REPEATED: Final = 0.1
"""How many deliveries land twice."""


def relanded(plan: Plan, split: str, seed: str) -> Plan:
    """A history that lands in other parts. What never lands, does not.

    The first message of each partition lands at first, because nothing shows that a partition
    exists of which nothing has landed.
    """
    rng = Random(f"{seed} {split}")
    found = deepcopy(plan)
    offsets = found.offsets()
    sent = [at for at, one in enumerate(found.entries) if one.landing is not None]
    places = [(found.entries[at].topic, found.entries[at].partition, offsets[at]) for at in sent]
    parts = parts_of(places, split, rng)
    found.landing_count = 1 + max(parts, default=0)
    for at, place, part in zip(sent, places, parts, strict=True):
        entry = found.entries[at]
        entry.landing = part if place[2] else 0
        is_repeated = part + 1 < found.landing_count and rng.random() < REPEATED
        entry.again = rng.randrange(part + 1, found.landing_count) if is_repeated else None
    return found


def parts_of(places: Sequence[tuple[str, int, int]], split: str, rng: Random) -> list[int]:
    """The part in which each message lands, from 0 on.

    Args:
        places: topic, partition and offset of each, in the order of sending.
        split: one of `SPLITS`.
        rng: draws them.
    """
    count = rng.randint(3, 6)
    if split == "each":
        count = max(min(MOST_PARTS, len(places)), 1)
        return [at * count // len(places) for at in range(len(places))]
    if split == "any":
        return [rng.randrange(count) for _ in places]
    if split == "late":
        parts = []
        for at in range(len(places)):
            part = at * count // len(places)
            is_late = rng.random() < 0.1
            parts.append(min(count - 1, part + rng.randint(1, count)) if is_late else part)
        return parts
    offsets: dict[tuple[str, int], list[int]] = defaultdict(list)
    for topic, partition, offset in places:
        offsets[topic, partition].append(offset)
    cuts = {
        place: sorted(rng.choice([*some, max(some) + 1]) for _ in range(count - 1))
        for place, some in offsets.items()
    }
    return [
        sum(offset >= one for one in cuts[topic, partition]) for topic, partition, offset in places
    ]


def growing(landed: Sequence[Landed], split: str, rng: Random) -> Iterable[list[Landed]]:
    """All that has landed after each part, some deliveries twice."""
    parts = parts_of([one[:3] for one in landed], split, rng)
    for part in range(1 + max(parts, default=0)):
        some = [one for one, at in zip(landed, parts, strict=True) if at <= part]
        yield some + [one for one in some if rng.random() < REPEATED]
