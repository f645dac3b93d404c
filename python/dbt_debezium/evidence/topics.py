"""Whose messages a topic holds. BEGIN and END name no source (S0, decision 10).

A source is decided for a topic, not for a record: by a setting, by an earlier run, by the default
name of a known source, and by what its ENDs count.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Final, Literal, NamedTuple, TypeAlias

from dbt_debezium.connectors import SOURCES
from dbt_debezium.judge.traits import TRAITS

Role: TypeAlias = Literal["tables", "transactions", "other"]

OWN_NAMES: Final = (".transaction",)
GLOBAL_IDS: Final = 36
"""Characters of the server's id before a GTID of MySQL, which no two servers give out."""


class Topic(NamedTuple):
    """What a topic of a source holds."""

    role: Role
    is_leading: bool = True
    """Of a topic with BEGIN and END: whether its offsets link transactions. Those of a copy, as
    MirrorMaker makes, compare with none."""


def named_topic(topic: str, source: str) -> Topic:
    """What a topic holds by its default name.

    >>> named_topic("shop.transaction", "shop").role, named_topic("shop.public.orders", "shop").role
    ('transactions', 'tables')
    >>> named_topic("shop", "shop").role
    'other'
    """
    if topic.endswith(OWN_NAMES):
        return Topic("transactions")
    return Topic("tables" if topic.removeprefix(source).count(".") == 2 else "other")


class SentChanges(NamedTuple):
    """What has landed of one transaction and table of a source, reads left out."""

    source_prefix: str
    connector: str
    database: str | None
    transaction_id: str
    data_collection: str
    received: int
    """Distinct changes."""
    last_place: str | None


class SentEnd(NamedTuple):
    """An END of a topic whose source is not known."""

    topic: str
    connector: str | None
    database: str | None
    transaction_id: str
    position: str | None
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Owner:
    """Whose BEGIN and END a topic holds."""

    source_prefix: str | None
    """None while nothing shows it: then its records are held, under no source."""
    possible_prefixes: tuple[str, ...] = ()
    """Sources that its content fits, where no name decides."""
    is_leading: bool = True
    """Of several topics of one source, whether its offsets link transactions."""


def owners(
    topics: Iterable[str],
    prefixes: Collection[str],
    ends: Sequence[SentEnd],
    changes: Sequence[SentChanges],
    *,
    settings: Mapping[str, str] | None = None,
    known: Mapping[str, str] | None = None,
    followed: Collection[str] = (),
) -> dict[str, Owner]:
    """Decide whose BEGIN and END topics hold.

    Args:
        topics: from which BEGIN or END has landed, now or earlier.
        prefixes: of the sources of which a change has landed; a database of SQL Server is left out.
        ends: of topics that no name decides; others are not asked.
        changes: of transactions with such an END.
        settings: `transaction_topics`, by pattern.
        known: what earlier runs have decided, which stays.
        followed: topics whose offsets the chains of earlier runs have followed.
    """
    named = {topic: _by_name(topic, prefixes, settings or {}, known or {}) for topic in topics}
    by_topic: dict[str, list[SentEnd]] = defaultdict(list)
    for end in ends:
        by_topic[end.topic].append(end)
    by_id: dict[str, list[SentChanges]] = defaultdict(list)
    for change in changes:
        by_id[change.transaction_id].append(change)
    by_part: dict[str, set[str]] = defaultdict(set)
    for one in prefixes:
        by_part[one.translate(_SEPARATORS)].add(one)
    found = {}
    for topic, prefix in named.items():
        possible: tuple[str, ...] = ()
        if prefix is None:
            own = {
                one
                for part in runs_of_parts(topic.translate(_SEPARATORS))
                for one in by_part.get(part, ())
            }
            possible = _by_content(topic, own, by_topic[topic], by_id)
            prefix = possible[0] if len(possible) == 1 else None
        found[topic] = Owner(prefix, possible)
    return _with_leaders(found, followed)


def runs_of_parts(name: str) -> Iterator[str]:
    """What can be the name of a source in that of a topic: parts between dots that follow each
    other.

    >>> list(runs_of_parts("eu.shop.orders"))
    ['eu', 'eu.shop', 'eu.shop.orders', 'shop', 'shop.orders', 'orders']
    """
    parts = name.split(".")
    for first, last in combinations(range(len(parts) + 1), 2):
        yield ".".join(parts[first:last])


def _by_name(
    topic: str, prefixes: Collection[str], settings: Mapping[str, str], known: Mapping[str, str]
) -> str | None:
    """By a setting, an earlier run, or the name that Debezium gives by default."""
    for pattern, prefix in settings.items():
        if fnmatchcase(topic, pattern):
            return prefix
    if topic in known:
        return known[topic]
    named = topic.removesuffix(".transaction")
    return named if named != topic and named in prefixes else None


def _by_content(
    topic: str,
    own: Collection[str],
    ends: Iterable[SentEnd],
    changes: Mapping[str, Sequence[SentChanges]],
) -> tuple[str, ...]:
    """Sources whose changes the ENDs of a topic count, and whose none they contradict.

    A topic whose name holds that of a source belongs to no other source. One with the default name
    of a source of which nothing has landed belongs to another one only if its ids are GTIDs of
    MySQL: young servers of all other kinds give out the same.

    Args:
        topic: its name.
        own: sources that it names, whatever stands between.
        ends: of the topic.
        changes: by the id of their transaction.
    """
    fits: dict[str, _Fit] = defaultdict(_Fit)
    for end in ends:
        for change in changes.get(end.transaction_id, ()):
            if _may_be_of(end, change):
                fits[change.source_prefix].compare(end, change)
    needs_own_ids = not own and topic.endswith(OWN_NAMES)
    return tuple(
        sorted(
            one
            for one, fit in fits.items()
            if fit.has_equal
            and fit.agrees
            and (one in own or not own)
            and (fit.has_own_ids or not needs_own_ids)
        )
    )


@dataclass(slots=True)
class _Fit:
    """How the ENDs of a topic and the changes of a source go together."""

    has_equal: bool = False
    agrees: bool = True
    has_own_ids: bool = True

    def compare(self, end: SentEnd, change: SentChanges) -> None:
        """Of one transaction."""
        expected = end.counts.get(change.data_collection)
        self.has_equal |= expected == change.received
        self.agrees &= expected is not None and expected >= change.received
        # PostgreSQL: the LSN of END lies after all changes of its transaction.
        names = TRAITS[change.connector].names_predecessor
        if names and end.position and change.last_place:
            self.agrees &= end.position >= change.last_place
        self.has_own_ids &= end.transaction_id[GLOBAL_IDS : GLOBAL_IDS + 1] == ":"


def _may_be_of(end: SentEnd, change: SentChanges) -> bool:
    connector = SOURCES.get(change.connector)
    shares_ids = connector is not None and not connector.has_own_transaction_ids
    is_of_kind = end.connector == change.connector if end.connector is not None else shares_ids
    return is_of_kind and (
        end.database is None or change.database is None or end.database == change.database
    )


_SEPARATORS: Final = str.maketrans("-_/:", "....")
"""What may stand around the name of a source in that of a topic."""


def _with_leaders(found: dict[str, Owner], followed: Collection[str]) -> dict[str, Owner]:
    """Of the topics of a source the one that the chain has followed leads, else the one with the
    default name, else the first."""
    by_prefix: dict[str, list[str]] = defaultdict(list)
    for topic, one in found.items():
        if one.source_prefix is not None:
            by_prefix[one.source_prefix].append(topic)
    for prefix, some in by_prefix.items():
        default = f"{prefix}.transaction"
        leader = min(some, key=lambda one: (one not in followed, one != default, one))
        for topic in some:
            found[topic] = replace(found[topic], is_leading=topic == leader)
    return found
