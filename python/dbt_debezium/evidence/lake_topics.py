"""Whose the topics of a lake are: which sources each holds messages of (S0, decision 10)."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from dbt_debezium.evidence.topics import (
    OWN_NAMES,
    Owner,
    Role,
    SentChanges,
    SentEnd,
    owners,
    runs_of_parts,
)
from dbt_debezium.judge.traits import TRAITS

UNREADABLE: Final = ("quarantined", "tombstone")
"""Kinds of messages that say nothing of what their topic is for."""


class Seen(NamedTuple):
    """Messages of one run, topic and kind that name one source."""

    topic: str
    source: str | None
    connector: str | None
    database_name: str | None
    kind: str
    landing_id: int
    """Of the newest of them, and its offset."""
    offset: int
    message_count: int


class LakeTopic(NamedTuple):
    """One topic, by all that ever landed of it."""

    topic: str
    sources: tuple[str, ...] = ()
    """Of which a change has landed."""
    topic_source: str | None = None
    """The source of what names none: by its readable messages, else by its name."""
    marker_source: str | None = None
    """The topic prefix of the connector whose BEGIN and END it holds."""
    shown_prefixes: tuple[str, ...] = ()
    """While nothing shows that: those that its content fits."""
    is_leading: bool = True
    """Of topics with BEGIN and END of one connector: whether its offsets link transactions."""
    has_controls: bool = False
    """Whether a message has landed that is no change, and no tombstone."""
    marker_count: int = 0
    """Of BEGIN and END, in this run."""
    role: Role = "other"
    judged_sources: tuple[str, ...] = ()
    """Those that are judged with its messages; none while nothing shows whose BEGIN and END it
    holds."""


def lake_topics(
    seen: Iterable[Seen],
    known: Iterable[LakeTopic] = (),
    *,
    published: Collection[str] = (),
    fetched: Iterable[str] = (),
    ends: Sequence[SentEnd] = (),
    changes: Sequence[SentChanges] = (),
    settings: Mapping[str, str] | None = None,
) -> list[LakeTopic]:
    """Place all topics of a lake.

    Args:
        seen: of this run.
        known: what earlier runs have found.
        published: sources that have a commit.
        fetched: topics that landings have read, perhaps without a message.
        ends: of topics whose BEGIN and END no name places.
        changes: of transactions with such an END.
        settings: `transaction_topics`.
    """
    lake = _Lake([*seen], {one.topic: one for one in known}, published)
    names = {one.topic for one in lake.seen} | {*lake.known} | {*fetched}
    markers = lake.owners(ends, changes, settings or {})
    return [lake.placed(name, markers.get(name)) for name in sorted(names)]


class _Lake:
    def __init__(
        self, seen: list[Seen], known: Mapping[str, LakeTopic], published: Collection[str]
    ) -> None:
        self.seen, self.known, self.published = seen, known, published
        self._by_topic: dict[str, list[Seen]] = defaultdict(list)
        for one in seen:
            self._by_topic[one.topic].append(one)
        self._prefix_of = {
            one.source: prefix_of(one.source, one.connector, one.database_name)
            for one in seen
            if one.kind == "change" and one.source is not None
        }
        readable = {
            one.source
            for one in seen
            if one.source and one.kind not in ("quarantined", "transaction_marker")
        }
        self._sources = readable | {*published}
        self._all_sources = self._sources.union(*(one.sources for one in known.values()))
        self._sent_by: dict[str, set[str]] = defaultdict(set)
        for source, prefix in self._prefix_of.items():
            self._sent_by[prefix].add(source)
        self._databases: dict[str, set[str]] = defaultdict(set)
        """Sources that are called as those of the databases of a connector."""
        for source in self._all_sources:
            front = source.rpartition(".")[0]
            if self._prefix_of.get(source, front) == front:
                self._databases[front].add(source)

    def owners(
        self, ends: Sequence[SentEnd], changes: Sequence[SentChanges], settings: Mapping[str, str]
    ) -> dict[str, Owner]:
        """Whose BEGIN and END each topic with some holds."""
        topics = {one.topic for one in self.seen if one.kind == "transaction_marker"}
        placed = {name: one.marker_source for name, one in self.known.items() if one.marker_source}
        prefixes = {*self._prefix_of.values()}
        # Of a database of SQL Server, the source without the last part is that of its connector.
        prefixes |= {
            part for one in self.published for part in (one, one.rpartition(".")[0] or one)
        }
        followed = {
            name
            for name, prefix in placed.items()
            if self.known[name].is_leading and self._of_prefix(prefix) & {*self.published}
        }
        return owners(
            topics | {*placed},
            prefixes,
            ends,
            changes,
            settings=settings,
            known=placed,
            followed=followed,
        )

    def _of_prefix(self, prefix: str) -> set[str]:
        """The sources of a connector: the one that is called so, or its databases."""
        if prefix in self._all_sources:
            return {prefix, *self._sent_by.get(prefix, ())}
        return self._databases.get(prefix, set())

    def placed(self, name: str, owner: Owner | None) -> LakeTopic:
        """What is known of one topic."""
        before, new = self.known.get(name, LakeTopic(name)), self._by_topic.get(name, [])
        sources = {*before.sources}
        sources |= {one.source for one in new if one.kind == "change" and one.source is not None}
        topic_source = self._source_of(name, before, new, owner)
        has_controls = before.has_controls or any(
            one.kind not in ("change", *UNREADABLE) for one in new
        )
        markers = sum(one.message_count for one in new if one.kind == "transaction_marker")
        prefix = owner.source_prefix if owner else None
        role: Role = "other"
        is_called_so = not sources and name in [f"{topic_source}{one}" for one in OWN_NAMES]
        if owner is not None or is_called_so:
            role = "transactions"
        elif sources or (not has_controls and "." in name.removeprefix(f"{topic_source}.")):
            role = "tables"
        judged = {*sources}
        if owner is None:
            judged |= {topic_source} if topic_source else set()
        elif prefix is not None:
            judged |= self._of_prefix(prefix) or {prefix}
        return LakeTopic(
            name,
            tuple(sorted(sources)),
            topic_source,
            prefix,
            owner.possible_prefixes if owner else (),
            owner.is_leading if owner else True,
            has_controls,
            markers,
            role,
            tuple(sorted(judged)),
        )

    def _source_of(
        self, name: str, before: LakeTopic, new: list[Seen], owner: Owner | None
    ) -> str | None:
        said = [one for one in new if one.kind != "transaction_marker" and one.source is not None]
        newest = _newest_source(one for one in said if one.kind != "quarantined")
        if newest is not None:
            return newest
        # MirrorMaker puts an alias before the name of a source, and the table follows it.
        front = name.rpartition(".")[0]
        inside = [one for one in runs_of_parts(front) if one in self._sources]
        if not new:
            is_guessed = not before.sources and before.marker_source is None
            guessed = _longest(one for one in inside if one in self._prefix_of)
            if is_guessed and guessed is not None:
                return guessed
            if before.topic_source is not None:
                return before.topic_source
        if owner is not None:
            return owner.source_prefix
        in_front = _longest(one for one in inside if name.startswith(f"{one}."))
        match = re.match(r"(.+?)([.][^.]*){0,2}$", name, re.DOTALL)
        return (
            in_front
            or _newest_source(said)
            or _longest(inside)
            or before.topic_source
            or (match[1] if match else name)
        )


def prefix_of(source: str, connector: str | None, database: str | None) -> str:
    """The topic prefix of the connector that sends a source's changes.

    >>> prefix_of("erp.sales", "sqlserver", "sales")
    'erp'
    """
    traits = TRAITS.get(connector or "")
    is_part = traits is not None and traits.is_by_database and database is not None
    return source.removesuffix(f".{database}") if is_part else source


def _newest_source(seen: Iterable[Seen]) -> str | None:
    newest = max(((one.landing_id, one.offset, one.source or "") for one in seen), default=None)
    return newest[2] if newest else None


def _longest(some: Iterable[str]) -> str | None:
    return max(some, key=len, default=None)
