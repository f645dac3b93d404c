"""Each reason to hold: the sentence is read, what it says is done, and nothing is held by it.

All sources are of one lake. It is built with what has landed first, then with what the sentences
ask for, and at last with the setting that says that nothing else is to come.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
import streams
from arrivals import Arrival
from lake import Lake, open_lake, tables_of
from oracle import Message
from test_faults import (
    Source,
    began,
    contradicting,
    create,
    cut_off,
    delete,
    in_bag,
    placed,
    restarted,
    signal_row,
    too_many,
    uncounted,
    update,
)

from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.reasons import HELD
from dbt_debezium.scaffold.captured import Group
from dbt_debezium.status.holds import held_sentence
from dbt_debezium.status.notices import idle_decisions

pytestmark = pytest.mark.slow

IN_ANOTHER_LAKE = {
    "late_snapshot",
    "not_judged",
    "other_key",
    "row_without_identity",
    "transaction_topic_recreated",
    "unordered_partitions",
}
"""Reasons whose remedy is a new lake, a full refresh, or another model (test_row_identity and
test_schema_changes)."""

REMEDIES = {
    "transaction topic": r"land the transaction topic to its end, by default (\S+)$",
    "topic": r"changes of (\S+): .* has landed up to .* not past it.*; land what is",
    "every topic": r"land every topic of (\S+) to its end",
    "its topic": r"nothing of (\S+) has landed.*; land its topic too",
    "not ingested": r"list '(\S+)' in not_ingested_tables",
    "partitions": r"land every partition of its topics? from (?:offset 0|their beginning)",
    "beginning": r"land the topics from their beginning",
    "tables": r"land the topics of (?:its tables|the tables that it names)",
    "again": r"mend that message .* and land it again",
    "snapshot": r"take a new initial snapshot|comes back only with a new initial snapshot",
    "complete": r"run once with --vars 'landing_reaches_the_end: true'",
    "decide": r"decide (\w+) in seeds/operator_decision\.csv",
    "without truncate": r"list (\S+) in sources_without_truncate",
    "not watermark": r"take (\S+) out of watermark_sources",
    "not refused": r"take the proof out of refused_proofs",
}
"""What a person does who reads `status`; in brackets what he takes from the sentence."""

IN_PREVIEW = {
    "not ingested": r"pass --not-ingested '(\S+)'",
    "complete": r"pass --complete",
    "transaction topic": r"dump the transaction topic to its end too, by default (\S+);",
    "topic": r"changes of (\S+): .* has landed up to .* not past it.*; dump what is",
    "its topic": r"nothing of (\S+) has landed.*; dump its topic too",
}
"""The same for those who read `preview`."""


@dataclass(frozen=True, slots=True)
class Case:
    """One source that holds something, and the remedy that is carried out."""

    reason: str
    remedy: str
    make: Callable[[str], list[Message]]
    """All messages of the source of this name."""
    is_withheld: Callable[[Message], bool] = lambda message: False
    """What does not land before the sentence asks for it."""
    later: Callable[[str, list[Message]], list[Message]] | None = None
    """What the connector of that name sends after the remedy, behind what it has sent."""


def of_source(*makers: Callable[[Source], Any]) -> Callable[[str], list[Message]]:
    def make(name: str) -> list[Message]:
        source = Source(name)
        for maker in makers:
            maker(source)
        return source.messages

    return make


def at(topic: str, *offsets: int, partition: int = 0) -> Callable[[Message], bool]:
    """Messages of a topic below the prefix; without offsets all."""

    def is_there(message: Message) -> bool:
        return message["topic"].endswith(f".{topic}") and (
            not offsets or (message["offset"] in offsets and message["partition"] == partition)
        )

    return is_there


def any_of(*tests: Callable[[Message], bool]) -> Callable[[Message], bool]:
    return lambda message: any(test(message) for test in tests)


def two(source: Source) -> None:
    began(source)
    source.commit(2, 2000, update(1, 2), create(2, 2))


def three(source: Source) -> None:
    began(source)
    source.commit(2, 2000, update(1, 2))
    source.commit(3, 3000, update(1, 3))


def two_tables(source: Source, other: str) -> None:
    began(source)
    source.commit(2, 2000, update(1, 2), create(7, 1, table=other))


def read_and_more(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "true")
    source.read(3, 1, "last")
    source.commit(2, 2000, update(1, 2))


def read_of_two_tables(source: Source) -> None:
    source.read(7, 1, "first", table="audit")
    source.read(1, 1, "last")
    source.commit(1, 1000, update(1, 2), update(7, 2, table="audit"))


def slow_partition(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "true", partition=1)
    source.read(3, 1, "last")
    source.commit(2, 2000, update(1, 2))


def before_the_upgrade(source: Source) -> None:
    """Debezium before 2.0 writes no position into END."""
    three(source)
    for message in source.messages:
        for part in ("key", "value"):
            message[part] = re.sub('"2:[0-9]+"', '"2"', message[part])


def torn_key_change(source: Source) -> None:
    began(source)
    source.commit(2, 2000, delete(1))
    placed(source, "public.t", 1)["headers"] = [{"key": "__debezium.newkey", "value": '{"id":7}'}]


def signalled(source: Source) -> None:
    began(source)
    data = '{"data-collections": ["public.t"], "type": "BLOCKING"}'
    source.commit(2, 2000, signal_row("s", "execute-snapshot", data))
    source.previous = 1000
    for id, marker in ((1, "first"), (5, "last")):
        source.read(id, 9, marker, lsn=1951)
    source.previous = 2000
    source.commit(3, 3000, update(1, 3))
    source.commit(4, 4000, update(1, 4))


def row_that_is_not_in_the_bag(source: Source) -> None:
    source.commit(1, 1000, in_bag("c", 1, 1), create(1, 1))
    source.commit(2, 2000, update(1, 2), in_bag("d", 7, 7))
    source.commit(3, 3000, update(1, 3))


def begun_twice(source: Source) -> None:
    began(source)
    source.marker("BEGIN", "2:1950", None)
    restarted(source, (1, 1), (2, 2))
    source.marker("END", "2:2000", {"public.t": 2})
    source.previous = 2000


def of_two_connectors(source: Source) -> None:
    """Both have one prefix, and each counts the table that it captures."""
    began(source)
    source.marker("BEGIN", "2:1950", None)
    source.event(2, 1960, update(1, 2), (1, 1))
    source.event(2, 1970, create(1, 1, table="my_table"), (1, 1))
    source.marker("END", "2:2000", {"public.t": 1})
    source.marker("END", "2:2000", {"public.my_table": 1})
    source.previous = 2000


def without_metadata(source: Source) -> None:
    """One partition has come no further than the first transaction."""
    for number in range(1, 5):
        one = replace(uncounted("c", number, number), partition=int(number == 1))
        source.commit(number, 1000 * number, one, sent="events")


def with_a_message_cut_off(source: Source) -> None:
    three(source)
    cut_off(source, "public.t", 1)


def whole_again(name: str, _: list[Message]) -> list[Message]:
    whole = Source(name)
    three(whole)
    return [placed(whole, "public.t", 1)]


def new_snapshot(name: str, sent: list[Message]) -> list[Message]:
    source = Source(name)
    for message in sent:
        key = (message["topic"], message["partition"])
        source.ends[key] = max(source.ends[key], message["offset"] + 1)
    source.read(1, 5, "first", lsn=9000)
    source.read(2, 5, "last", lsn=9000)
    source.commit(9, 10000, update(1, 6))
    return source.messages


def row(number: int) -> streams.Change:
    return streams.create("t", id=number, n=number, note=None)


def gtid_missing(name: str) -> list[Message]:
    """Nor has the partition of the other table come so far."""
    one = streams.Mysql(name, "public")
    first = [streams.create(table, id=1, n=1, note=None) for table in ("t", "my_table")]
    one.commit(*first)
    one.commit(streams.update("t", id=1, n=2, note=None))
    one.number += 1
    one.commit(streams.update("t", id=1, n=3, note=None))
    return one.landings[0]


def window(name: str) -> list[Message]:
    """A read of an incremental snapshot, whose window the third transaction closes."""
    one = streams.Sqlserver(name, "public", database="bank", counted_database="bank")
    one.commit(row(1))
    one.commit(row(2))
    one.log += 1
    closing = one.lsn(0xFF)
    one.log -= 1
    one.read_window(closing, row(7))
    one.commit(row(3))
    one.commit(row(4))
    return one.landings[0]


def prepared(name: str) -> list[Message]:
    """An XA transaction: MariaDB's connector sends its BEGIN and changes, and never an END."""
    one = streams.Mariadb(name, "public")
    one.commit(row(1))
    one.commit(row(2))
    one.landings[0].pop()
    one.offsets[f"{name}.transaction", 0] -= 1
    one.commit(row(3))
    return one.landings[0]


def truncated_in_a_domain(name: str) -> streams.Mariadb:
    """A TRUNCATE of another server without BEGIN, in one of two domains that say nothing of
    each other."""
    one = streams.Mariadb(name, "public")
    one.read(row(1))
    one.server, one.number = "3-7-", 0
    one.commit(row(2))
    one.server, one.number = "0-7-", 9
    one.commit(row(3))
    one.pos += 1000
    place = one.place("t", one.pos, gtid="3-8-2") | {"server_id": 8}
    one.send_change(streams.truncate("t"), place)
    one.commit(row(4))
    return one


def snapshot_of_mariadb(name: str, _: list[Message]) -> list[Message]:
    one = truncated_in_a_domain(name)
    one.landing = 1
    one.read(row(4))
    one.commit(row(5))
    return one.landings[1]


def slow_partition_of_markers(name: str) -> list[Message]:
    """The second partition of the transaction topic has come no further than the first commit."""
    one = streams.Mysql(name, "public")
    for number in (1, 2, 3, 5):
        one.number = number - 1
        one.commit(row(number))
    offsets = Counter[int]()
    for message in one.landings[0]:
        if message["topic"].endswith(".transaction"):
            at = int(message["key"].endswith(':1"}'))
            message |= {"partition": at, "offset": offsets[at]}
            offsets[at] += 1
    return one.landings[0]


def without_ids(name: str) -> list[Message]:
    """Neither transaction metadata nor GTIDs, as connectors are by default."""
    one = streams.Mysql(name, "public")
    one.has_metadata = one.has_gtids = False
    one.commit(row(1))
    one.commit(row(2))
    return one.landings[0]


def cdl(name: str, *tables: str) -> list[Message]:
    one = streams.Cdl(name)
    for number, table in enumerate(tables, 1):
        one.row("2.0", table, {"id": number, "n": number, "note": None})
    return one.landings[0]


SECOND_CHANGE = at("public.t", 2)
SECOND_TRANSACTION = any_of(at("transaction", 2, 3), at("public.t", 1))
SIGNAL = any_of(at("transaction", 2, 3), at("public.debezium_signal"))
SIGNALLED_READS = at("public.t", 1, 2)

CASES = {
    "no_end": Case("no_end", "transaction topic", of_source(two), at("transaction", 3)),
    "short": Case("missing_events", "topic", of_source(two), SECOND_CHANGE),
    "unseen": Case(
        "missing_events",
        "not ingested",
        of_source(partial(two_tables, other="audit")),
        at("public.audit"),
    ),
    "late": Case(
        "missing_events",
        "its topic",
        of_source(partial(two_tables, other="my_table")),
        at("public.my_table"),
    ),
    "long": Case("too_many_events", "snapshot", of_source(too_many), later=new_snapshot),
    "twisted": Case(
        "contradicting_events", "snapshot", of_source(contradicting), later=new_snapshot
    ),
    "shared": Case("shared_topic_prefix", "complete", of_source(of_two_connectors)),
    "torn": Case(
        "incomplete_key_change", "snapshot", of_source(torn_key_change), later=new_snapshot
    ),
    "no_place": Case(
        "no_commit_position", "snapshot", of_source(before_the_upgrade), later=new_snapshot
    ),
    "lost": Case("missing_predecessor", "beginning", of_source(three), SECOND_TRANSACTION),
    "gone": Case("missing_predecessor", "decide", of_source(three), SECOND_TRANSACTION),
    "reads": Case("snapshot_incomplete", "partitions", of_source(read_and_more), at("public.t", 1)),
    "table": Case(
        "snapshot_incomplete", "not ingested", of_source(read_of_two_tables), at("public.audit")
    ),
    "asked": Case("snapshot_incomplete", "tables", of_source(signalled), SIGNALLED_READS),
    "passed": Case("snapshot_incomplete", "decide", of_source(signalled), SIGNALLED_READS),
    "slow": Case("snapshot_unconfirmed", "complete", of_source(slow_partition)),
    "unasked": Case("missing_signal", "partitions", of_source(signalled), SIGNAL),
    "bag": Case("missing_row", "decide", of_source(row_that_is_not_in_the_bag)),
    "restart": Case("unproven_restart", "complete", of_source(begun_twice)),
    "uncounted": Case("awaiting_watermark", "complete", of_source(without_metadata)),
    "spread": Case(
        "several_partitions",
        "not watermark",
        lambda name: cdl(name, "t", "my_table"),
        later=lambda name, _: cdl(name, "t", "my_table", "t", "my_table")[2:],
    ),
    "gtid": Case("unaccounted_gtid", "without truncate", gtid_missing),
    "xa": Case("end_never_sent", "decide", prepared),
    "domain": Case(
        "unplaced_truncate",
        "snapshot",
        lambda name: truncated_in_a_domain(name).landings[0],
        later=snapshot_of_mariadb,
    ),
    "marker": Case("partition_behind", "complete", slow_partition_of_markers),
    "window": Case(
        "no_transaction",
        "every topic",
        window,
        any_of(at("public.t", 3, 4), at("transaction", 4, 5, 6, 7)),
    ),
    "ids": Case("transaction_end_unknown", "complete", without_ids),
    "refused": Case("refused_proof", "not refused", lambda name: cdl(name, "t", "t")),
    "cut_off": Case(
        "quarantined_event", "again", of_source(with_a_message_cut_off), later=whole_again
    ),
}
"""By the source's name, which a prefix goes before."""


TWICE_PLACED = """
select source, link_kind, position, read_position
from build.proof
where
    cut_id = (select max(cut_id) from build.proof)
    and kind = 'unit'
    and position is not null
    and (unit_kind = 'snapshot' or unit_id = transaction_id)
group by source, link_kind, position, read_position
having count(*) > 1
"""


@dataclass(slots=True)
class Settings:
    """What a person has set."""

    not_ingested_tables: list[str] = field(default_factory=list)
    sources_without_truncate: list[str] = field(default_factory=list)
    watermark_sources: list[str] = field(default_factory=lambda: ["r_spread"])
    refused_proofs: list[str] = field(default_factory=lambda: ["none"])

    def text(self, **more: bool) -> str:
        values = {name: getattr(self, name) for name in self.__slots__}
        return str(values | more).replace("True", "true")


@dataclass(slots=True)
class Followed:
    """What was held, what `status` and `preview` said, and what is held after the remedy."""

    first: dict[str, dict[str, Any]]
    twice_placed: list[tuple[object, ...]]
    """What stands at a place where something else does."""
    after: dict[str, dict[str, Any]] = field(default_factory=dict)
    at_the_end: dict[str, dict[str, Any]] = field(default_factory=dict)


def entry_of(entries: dict[str, Any], name: str) -> dict[str, Any]:
    """The entry of a case; SQL Server's source has its database in its name."""
    entry: dict[str, Any] = entries.get(f"r_{name}.bank") or entries[f"r_{name}"]
    return entry


def messages_of(case: Case, name: str, *, withheld: bool) -> list[Message]:
    messages = case.make(f"r_{name}")
    return [message for message in messages if case.is_withheld(message) == withheld]


def follow(name: str, case: Case, entry: dict[str, Any], settings: Settings, lake: Lake) -> Arrival:
    """Do what the sentence says, and return what lands by it."""
    sentence = held_sentence(entry, "status") or ""
    told = re.search(REMEDIES[case.remedy], sentence)
    assert told, sentence
    taken = told.groups()
    withheld = messages_of(case, name, withheld=True)
    if case.remedy == "transaction topic":
        withheld = [message for message in withheld if message["topic"] == taken[0]]
    elif case.remedy in ("topic", "its topic"):
        withheld = [message for message in withheld if message["topic"].endswith(f".{taken[0]}")]
    elif case.remedy == "not ingested":
        settings.not_ingested_tables.append(taken[0])
        return Arrival(f"r_{name}", [], [])
    elif case.remedy == "without truncate":
        settings.sources_without_truncate.append(taken[0])
    elif case.remedy == "not watermark":
        settings.watermark_sources.remove(taken[0])
    elif case.remedy == "not refused":
        settings.refused_proofs.clear()
    elif case.remedy == "decide":
        held = re.search(r": (?:transaction (\S+)|(snapshot \S+)) is held", sentence)
        assert held, sentence
        with (lake.project / "seeds" / "operator_decision.csv").open("a") as lines:
            lines.write(f"r_{name},{held[1] or held[2]},{taken[0]},Ann,2026-11-21,as it says\n")
        return Arrival(f"r_{name}", [], [])
    if case.later:
        withheld = withheld + case.later(f"r_{name}", case.make(f"r_{name}"))
    return Arrival(f"r_{name}", withheld, [])


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Followed]:
    every = [message for name, case in CASES.items() for message in case.make(f"r_{name}")]
    tables = tables_of(every, [Group("r_*", "remedies")])
    kept = [table for table in tables if table.table != "debezium_signal"]
    with open_lake(tmp_path_factory.mktemp("remedies"), kept) as lake:
        first = [
            Arrival(f"r_{name}", messages_of(case, name, withheld=False), [])
            for name, case in CASES.items()
        ]
        lake.land_arrivals("first", first)
        assert idle_decisions(SparkReader(lake.spark), []) == [], "before anything is built"
        settings = Settings()
        # A keyless table is to lose a row: one run fails on it, and the next one holds it.
        assert lake.build(command="seed"), lake.lines
        assert not lake.build("--vars", settings.text(), command="run")
        assert any("the next run holds transaction 2" in one for one in lake.lines), lake.lines
        assert lake.build("--vars", settings.text(), command="run"), lake.lines
        found = Followed(lake.cuts(), lake.rows(TWICE_PLACED))
        landed = [
            follow(name, case, entry_of(found.first, name), settings, lake)
            for name, case in CASES.items()
        ]
        lake.land_arrivals("second", [one for one in landed if one.messages])
        assert lake.build(command="seed"), lake.lines
        assert lake.build("--vars", settings.text(), command="run"), lake.lines
        found.after = lake.cuts()
        everything = settings.text(landing_reaches_the_end=True)
        assert lake.build("--vars", everything, command="run"), lake.lines
        found.at_the_end = lake.cuts()
        yield found


def test_every_reason_has_a_case_whose_remedy_is_carried_out() -> None:
    causes = {name for name, reason in HELD.items() if reason.remedy}
    assert {case.reason for case in CASES.values()} == causes - IN_ANOTHER_LAKE


@pytest.mark.parametrize("name", CASES)
def test_the_first_cause_is_named_and_its_remedy_ends_the_hold(
    followed: Followed, name: str
) -> None:
    case = CASES[name]
    before = entry_of(followed.first, name)
    sentence = held_sentence(before, "status") or ""
    assert f"({case.reason})" in sentence
    assert " 0 of 0 " not in sentence
    first = re.search(r": (?:transaction )?(.+?) (?:is|are) held", sentence)
    assert first
    seen = followed.at_the_end if case.remedy == "complete" else followed.after
    held = entry_of(seen, name)["held"]
    assert first[1] not in {one["transaction_id"] for one in held}, (sentence, held)
    if case.remedy == "complete":
        still = {one["transaction_id"] for one in entry_of(followed.after, name)["held"]}
        assert first[1] in still, "held until the setting is made"


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.remedy in IN_PREVIEW]
)
def test_preview_names_the_same_remedy_as_its_own_option(followed: Followed, name: str) -> None:
    case, entry = CASES[name], entry_of(followed.first, name)
    in_preview = re.search(IN_PREVIEW[case.remedy], held_sentence(entry, "preview") or "")
    in_project = re.search(REMEDIES[case.remedy], held_sentence(entry, "status") or "")
    assert in_preview
    assert in_project
    assert in_preview.groups() == in_project.groups()


def test_transactions_of_several_partitions_have_a_place_each(followed: Followed) -> None:
    """Also where their offsets are equal, as those of `spread` are."""
    assert followed.twice_placed == []


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_end_or_none(followed: Followed, name: str) -> None:
    for one in entry_of(followed.first, name)["held"]:
        assert one["expected"] != 0 or one["reason"] == "too_many_events"
        assert "1 of 0" not in (held_sentence(entry_of(followed.first, name), "status") or "")
