"""Which landing brings which message: each partition is cut at places of its own."""

from collections import defaultdict
from random import Random

from histories.knobs import Knobs
from histories.plan import Entry


def land(rng: Random, knobs: Knobs, entries: list[Entry], *, shows_every_partition: bool) -> None:
    """Give each entry the landing that brings it.

    Args:
        shows_every_partition: the first landing brings something of each partition.
    """
    partitions: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at, entry in enumerate(entries):
        partitions[entry.topic, entry.partition].append(at)
    several = {topic for topic, partition in partitions if partition and topic == "transaction"}
    is_near = rng.random() < 0.6
    loses = rng.random() < knobs.lost_end
    moments = sorted(rng.uniform(0, len(entries)) for _ in range(knobs.landing_count - 1))
    for (topic, _), ats in partitions.items():
        ends = _ends(rng, ats, moments, len(entries) if is_near else 0)
        last = len(ats)
        if loses and rng.random() < 0.5:
            last = rng.randint(0, last) if rng.random() < 0.3 else max(0, last - rng.randint(1, 3))
        # Of a transaction topic with partitions nobody has seen, nothing tells that it has them.
        least = 1 if shows_every_partition or topic in several else 0
        bounds = [max(least, min(end, last)) for end in (*ends, last)]
        for number, at in enumerate(ats):
            entries[at].landing = next((i for i, end in enumerate(bounds) if number < end), None)
    for entry in entries:
        # Only a delivery tells a read of a keyless table, or a read at all, from its copy.
        landing, last_landing = entry.landing, knobs.landing_count - 1
        entry.again = None
        if landing is None or entry.kind in ("read", "window_read"):
            continue
        if rng.random() < knobs.redelivery:
            entry.again = rng.randint(landing, last_landing)


def _ends(rng: Random, ats: list[int], moments: list[float], total: int) -> list[int]:
    """Where the landings but the last end: near a common moment, or anywhere when total is 0."""
    if not total:
        return sorted(rng.randint(0, len(ats)) for _ in moments)
    jitter = rng.choice((0.01, 0.05, 0.2)) * total
    return sorted(sum(at < moment + rng.gauss(0, jitter) for at in ats) for moment in moments)
