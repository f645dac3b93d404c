"""What may have landed of a capture at some moment: each partition cut at its own place.

Every arrival gets a source name of its own, so one run can take hundreds of them.
"""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Literal

from oracle import ExpectedCut, History, Message, expected_cut

Mode = Literal["few", "uniform", "moment", "whole"]
Replay = Literal["all", "tail", "crash"]

MODES: tuple[Mode, ...] = ("few", "uniform", "moment")
SOURCE_NAME = re.compile(r'"connector":"[a-z0-9]+","name":"([^"]*)","ts_ms":')


@dataclass(frozen=True, slots=True)
class Arrival:
    """Messages of one source in the order they land, and where each stands in the capture."""

    prefix: str
    """The source's name (topic prefix)."""
    messages: list[Message]
    places: list[int]

    def expected_cut(self, history: History) -> ExpectedCut:
        return expected_cut(history, self.places, self.messages)


def make_arrival(
    messages: Sequence[Message],
    seed: int,
    prefix: str,
    *,
    mode: Mode | None = None,
    replay: Replay | None = None,
) -> Arrival:
    """Cut, shuffle and rename a capture.

    Args:
        messages: a capture in emission order.
        seed: same seed, same arrival.
        prefix: the new source name.
        mode: `few` cuts none to three partitions, `uniform` each one anywhere, `moment` all near
            one moment of the log, `whole` none. By default the first three take turns.
        replay: what a connector restart sent again under new offsets, from the start of a
            transaction on: `all` or a `tail` of the log after its end; or, after a `crash` in its
            middle, what was sent shortly before and all the rest.
    """
    rng = Random(seed)
    mode = mode or MODES[seed % len(MODES)]
    log = _replayed(messages, rng, replay)
    partitions: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at, (_, message) in enumerate(log):
        partitions[message["topic"], message["partition"]].append(at)
    kept: list[int] = []
    for ats, end in zip(partitions.values(), _ends(partitions.values(), rng, mode), strict=True):
        kept += ats[:end]
    rng.shuffle(kept)
    old = source_name(messages)
    landed = [renamed(log[at][1], old, prefix) for at in kept]
    return Arrival(prefix, landed, [log[at][0] for at in kept])


def _ends(partitions: Collection[Sequence[int]], rng: Random, mode: Mode) -> list[int]:
    """How many messages of each partition arrive; a partition is its places in the log."""
    ends = [len(ats) for ats in partitions]
    if mode == "few":
        for chosen in rng.sample(range(len(ends)), rng.randint(0, min(3, len(ends)))):
            ends[chosen] = rng.randint(0, ends[chosen])
    elif mode == "uniform":
        ends = [rng.randint(0, end) for end in ends]
    elif mode == "moment":
        total = sum(ends)
        moment, jitter = rng.randint(0, total), rng.choice((0.002, 0.01, 0.04)) * total
        moments = [moment + rng.gauss(0, jitter) for _ in ends]
        ends = [sum(at < m for at in ats) for ats, m in zip(partitions, moments, strict=True)]
    return ends


def _replayed(
    messages: Sequence[Message], rng: Random, replay: Replay | None
) -> list[tuple[int, Message]]:
    """The log with what was sent again: each message with its place in the capture."""
    places = list(range(len(messages)))
    if replay:
        begins = [
            place for place, message in enumerate(messages)
            if message["value"] and message["value"].startswith('{"status":"BEGIN"')
        ]  # fmt: skip
        restart = begins[0] if replay == "all" else rng.choice(begins)
        stop = rng.randint(restart + 1, len(messages)) if replay == "crash" else len(messages)
        places = places[:stop] + places[restart:]
    next_offset: dict[tuple[str, int], int] = {}
    log = []
    for place in places:
        message = messages[place]
        partition = (message["topic"], message["partition"])
        offset = next_offset.setdefault(partition, message["offset"])
        next_offset[partition] += 1
        log.append((place, {**message, "offset": offset}))
    return log


def landings(arrival: Arrival, count: int, seed: int) -> list[Arrival]:
    """The same arrival in `count` parts: every partition goes on where the part before stopped."""
    rng = Random(seed)
    partitions: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at, message in enumerate(arrival.messages):
        partitions[message["topic"], message["partition"]].append(at)
    parts: list[list[int]] = [[] for _ in range(count)]
    for ats in partitions.values():
        ats.sort(key=lambda at: arrival.messages[at]["offset"])
        bounds = [0, *sorted(rng.randint(0, len(ats)) for _ in range(count - 1)), len(ats)]
        for part, start, end in zip(parts, bounds, bounds[1:], strict=False):
            part.extend(ats[start:end])
    for part in parts:
        rng.shuffle(part)
    return [_part(arrival, part) for part in parts]


def slices(arrival: Arrival, count: int) -> list[Arrival]:
    """The same arrival in the order in which it was sent: the first half, and `count` more parts.

    A snapshot is not proved before messages have come after it, so earlier parts publish nothing.
    """
    ats = sorted(range(len(arrival.places)), key=arrival.places.__getitem__)
    half = len(ats) // 2
    bounds = [half + (len(ats) - half) * number // count for number in range(count + 1)]
    return [_part(arrival, ats[start:end]) for start, end in pairwise([0, *bounds])]


def pieces(messages: list[Message], count: int, name: str = "part") -> list[Arrival]:
    """Messages of one source in equal parts, in the order in which they were sent."""
    step = -(-len(messages) // count)
    return [
        Arrival(f"{name}_{at}", messages[at * step : (at + 1) * step], []) for at in range(count)
    ]


def _part(arrival: Arrival, ats: Iterable[int]) -> Arrival:
    chosen = list(ats)
    messages = [arrival.messages[at] for at in chosen]
    return Arrival(arrival.prefix, messages, [arrival.places[at] for at in chosen])


def expected_cuts(history: History, parts: Iterable[Arrival]) -> list[ExpectedCut]:
    """What may be published after each landing; a published cut is never taken back."""
    messages: list[Message] = []
    places: list[int] = []
    cuts: list[ExpectedCut] = []
    for part in parts:
        messages += part.messages
        places += part.places
        cut = expected_cut(history, places, messages)
        cuts.append(max(cuts[-1], cut, key=lambda c: c.commit_number) if cuts else cut)
    return cuts


def source_name(messages: Iterable[Message]) -> str:
    """The name (topic prefix) in the first change event."""
    for message in messages:
        if message["value"] and (found := SOURCE_NAME.search(message["value"])):
            return found[1]
    raise ValueError("no message names its source")


def renamed(message: Message, old: str, new: str) -> Message:
    """A message as a connector with another topic prefix sends it; row values stay untouched."""
    topic: str = message["topic"]
    key, value = message["key"], message["value"]
    if topic.startswith("__debezium-heartbeat."):
        topic = topic.removesuffix(old) + new
        key = key.replace(f'"serverName":"{old}"', f'"serverName":"{new}"')
    else:
        topic = new + topic.removeprefix(old)
    if value is not None:
        value = _with_source_name(value, old, new)
    headers = [
        {**header, "value": json.dumps(new)}
        if header["key"] == "__debezium.context.connectorLogicalName"
        else header
        for header in message["headers"] or []
    ]
    return {**message, "topic": topic, "key": key, "value": value, "headers": headers}


def _with_source_name(value: str, old: str, new: str) -> str:
    # The source block stands behind the row images, so a look-alike inside a row comes earlier.
    head, found, tail = value.rpartition(f'","name":"{old}","ts_ms":')
    return f'{head}","name":"{new}","ts_ms":{tail}' if found else value


def write_arrivals(
    directory: Path, arrivals: Iterable[Arrival], *, combined: str | None = None
) -> list[Path]:
    """Write `<prefix>.jsonl.gz` for each arrival, or all of them into `<combined>.jsonl.gz`."""
    directory.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for arrival in arrivals:
        path = directory / f"{combined or arrival.prefix}.jsonl.gz"
        with gzip.open(path, "ab" if path in paths else "wb", compresslevel=1) as lines:
            for message in arrival.messages:
                lines.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        if path not in paths:
            paths.append(path)
    return paths
