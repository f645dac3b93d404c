"""What lasts from run to run of one source: typed, readable, stored with the published cut.

A run is given this, what has landed since, and the messages of open units. It then says the same
as a run that is given all that ever landed. The state does not grow with the history, but with
partitions, gaps, messages that cannot be read, and what is held.

Nothing else is remembered but the verdict on each settled unit: its id and its position.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Final

import msgspec
from msgspec import Struct, field

from dbt_debezium.errors import DebeziumError
from dbt_debezium.evidence.places import least, most
from dbt_debezium.judge.marks import LogNumbers, Range
from dbt_debezium.judge.verdicts import ChainEnd

VERSION: Final = 1
"""Of the form of the state. A source whose state has another one is not judged until a run with
`--full-refresh`."""


class Run(Struct, forbid_unknown_fields=True):
    """Offsets of a partition that have landed without a gap, and what is settled in them.

    Places are kept for each run, and not for the partition: when a gap closes, what was settled
    after it counts.
    """

    first: int
    last: int
    """Inclusive."""
    reached: str | None = None
    """The highest place by which partitions are compared, of settled changes."""
    after: str | None = None
    """Likewise with reads, for what stands after: a message that cannot be read."""
    settled_first: int | None = None
    """The first and the last settled message that can be read and is no tombstone."""
    settled_last: int | None = None
    low: str | None = None
    """The lowest and the highest place in the log of those."""
    high: str | None = None
    head_offset: int | None = None
    """The first settled change that is no copy: its offset, and its places."""
    head_place: str | None = None
    head_position: str | None = None

    def has(self, offset: int) -> bool:
        """Whether an offset is in it."""
        return self.first <= offset <= self.last

    def joined(self, other: "Run") -> "Run":
        """This run and the one after it, which touches it or lies in it."""
        head = self if self.head_offset is not None else other
        return Run(
            self.first,
            max(self.last, other.last),
            most(self.reached, other.reached),
            most(self.after, other.after),
            least(self.settled_first, other.settled_first),
            most(self.settled_last, other.settled_last),
            least(self.low, other.low),
            most(self.high, other.high),
            head.head_offset,
            head.head_place,
            head.head_position,
        )


class Unread(Struct, forbid_unknown_fields=True):
    """A message that cannot be read, with the nearest settled neighbours."""

    offset: int
    known_place: str
    """How far the chain had come when it landed."""
    after: str | None = None
    """The highest place before it."""
    has_before: bool = False
    """Whether a change stands before it."""
    place_offset: int | None = None
    """The next change after it that tells a place, and that place."""
    place: str | None = None
    position_offset: int | None = None
    """The next change after it, and where it stands in the log."""
    position: str | None = None
    transaction_id: str | None = None
    """That it names itself."""


class Partition(Struct, forbid_unknown_fields=True):
    """A partition of any topic of the source."""

    topic: str
    partition: int
    runs: list[Run] = field(default_factory=list)
    reached_by_reads: str | None = None
    """SQL Server, Db2: how far reads have come, which name a commit and have no place in one."""
    has_changes: bool = False
    has_windows: bool = False
    has_signals: bool = False
    is_shared: bool = False
    """Whether a message of another source has landed. Places of two sources do not compare."""
    tables: list[str] = field(default_factory=list)
    """Of which a change or read has landed, by the names that END uses."""
    unread: list[Unread] = field(default_factory=list)
    """Messages that cannot be read, and that the chain has not passed."""
    last_read: int | None = None
    """Offset of the newest settled read of an initial snapshot."""
    last_read_place: str | None = None
    """Where that snapshot stands in the log."""
    unplaced: list[int] = field(default_factory=list)
    """The offsets of all that cannot be read."""
    passed: list[int] = field(default_factory=list)
    """Of a transaction topic: markers of other sources after one that is not settled."""
    markers: dict[int, str] = field(default_factory=dict)
    """Of a transaction topic: settled markers that no settled one follows, by offset."""

    @property
    def key(self) -> tuple[str, int]:
        return self.topic, self.partition


class Unfinished(Struct, forbid_unknown_fields=True):
    """A BEGIN of a settled transaction that has no END."""

    transaction_id: str
    partition: int
    offset: int


class OpenUnit(Struct, forbid_unknown_fields=True):
    """A unit that waits: its messages are given to the next run again."""

    kind: str
    id: str


class State(Struct, forbid_unknown_fields=True):
    """Of one source, after one run. The default is that of a source of which nothing landed."""

    version: int = VERSION
    connector: str | None = None
    end: ChainEnd = ChainEnd()
    is_in_order: bool = False
    """Whether its positions are offsets, since `watermark_sources` lists a source of CDL."""
    newest: str | None = None
    """Id of the newest transaction in the chain."""
    partitions: list[Partition] = field(default_factory=list)
    unlanded: dict[str, str] = field(default_factory=dict)
    """Tables that settled ENDs count and that have not landed: where the newest such END stands."""
    marked_position: str | None = None
    """PostgreSQL: the position of the newest settled END. What is open and older has no neighbour
    after it that could show its end."""
    seen_position: str | None = None
    """If END is the order: the position of the newest settled transaction that is over."""
    seen_place: str | None = None
    """Likewise the last place of the newest one with changes."""
    logs: list[str] = field(default_factory=list)
    """Whose numbers a marker has named."""
    log_numbers: list[LogNumbers] = field(default_factory=list)
    has_blockless: bool = False
    """Whether a change without a transaction block has landed."""
    last_begin: int = 0
    """Offset of the newest settled BEGIN or END of MariaDB."""
    unfinished: list[Unfinished] = field(default_factory=list)
    open: list[OpenUnit] = field(default_factory=list)


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(State)


class _Versioned(Struct):
    version: int


def encoded(state: State) -> str:
    """A state as JSON text.

    >>> decoded("shop", encoded(State(newest="701"))).newest
    '701'
    """
    return _ENCODER.encode(state).decode()


def decoded(source: str, text: str | None) -> State:
    """The state in a text.

    Args:
        source: whose state it is.
        text: None before the first run.

    Raises:
        DebeziumError: it is none, or that of another version. It comes again from what has landed.

    >>> decoded("shop", '{"version": 7}')
    Traceback (most recent call last):
    dbt_debezium.errors.DebeziumError: shop: the state of the last run has version 7, expected 1; \
run dbt-debezium run --full-refresh, which rebuilds it from what has landed
    """
    if text is None:
        return State()
    way_back = "run dbt-debezium run --full-refresh, which rebuilds it from what has landed"
    try:
        version = msgspec.json.decode(text, type=_Versioned).version
        if version == VERSION:
            return _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise DebeziumError(
            f"{source}: the state of the last run cannot be read: {error}; {way_back}"
        ) from None
    raise DebeziumError(
        f"{source}: the state of the last run has version {version}, expected {VERSION}; {way_back}"
    )


def merged_runs(runs: Iterable[Run], landed: Iterable[Range]) -> list[Run]:
    """Runs of the state with offsets that have landed since.

    >>> runs = merged_runs([Run(0, 3), Run(6, 7)], [Range("t", 0, 4, 5)])
    >>> [(one.first, one.last) for one in runs]
    [(0, 7)]
    """
    found: list[Run] = []
    some = [*runs, *(Run(one.first, one.last) for one in landed)]
    for one in sorted(some, key=lambda run: run.first):
        if found and one.first <= found[-1].last + 1:
            found[-1] = found[-1].joined(one)
        else:
            found.append(msgspec.structs.replace(one))
    return found


def joined_up_to(runs: Sequence[Run], offset: int) -> list[Run]:
    """Runs of which all that begin at or before an offset are one.

    >>> [(one.first, one.last) for one in joined_up_to([Run(0, 3), Run(6, 7), Run(9, 9)], 6)]
    [(0, 7), (9, 9)]
    """
    before = [one for one in runs if one.first <= offset]
    return [reduce(Run.joined, before), *runs[len(before) :]]


def merged_numbers(known: Iterable[tuple[str, int, int]]) -> list[LogNumbers]:
    """Runs of numbers of logs, where they touch as one.

    >>> [(one.first, one.last) for one in merged_numbers([("a", 3, 4), ("a", 1, 2), ("a", 9, 9)])]
    [(1, 4), (9, 9)]
    """
    found: list[LogNumbers] = []
    for log, first, last in sorted(known):
        newest = found[-1] if found else None
        if newest and newest.log == log and first <= newest.last + 1:
            found[-1] = LogNumbers(log, newest.first, max(newest.last, last))
        else:
            found.append(LogNumbers(log, first, last))
    return found
