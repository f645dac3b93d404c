"""BEGIN and END belong to the source whose changes they count, whatever their topic is called."""

import json
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import pytest
from arrivals import Arrival
from lake import Lake, open_lake, tables_of
from oracle import Row
from streams import (
    Db2,
    Mariadb,
    Mysql,
    Oracle,
    Postgresql,
    Sqlserver,
    Stream,
    create,
    update,
)

from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.scaffold.captured import Group
from dbt_debezium.status.notices import unplaced_topics

pytestmark = pytest.mark.slow

KINDS = (Postgresql, Sqlserver, Db2, Oracle, Mysql, Mariadb)
SETTINGS: dict[str, object] = {"transaction_topics": {"routed.set_*": "tt_set"}}
PARTITIONS = 3
TWINS = {"tt_twin_b": "tt_twin_a", "tt_second": "tt_first", "tt_young_b": "tt_young_a"}
"""Streams with the ids of another; all others have ids of their own."""


def filled(stream: Stream) -> Stream:
    """A snapshot and two transactions in the first landing, two more in the second."""
    number = zlib.crc32(TWINS.get(stream.prefix, stream.prefix).encode()) % 10_000
    if isinstance(stream, Postgresql):
        stream.transaction += number
    if type(stream) is Mysql:
        stream.server = f"3ff300ed-e55c-11f1-98c4-02fc0000{number:04}:"
    stream.read(create("orders", id=1, v="a"))
    for landing in (0, 1):
        stream.landing = landing
        stream.commit(update("orders", id=1, v=f"{landing}"), create("orders", id=2 + landing))
        stream.commit(update("orders", id=1, v=f"{landing}b"))
    return stream


def renamed(stream: Stream, before: str, after: str) -> Stream:
    for message in (one for landing in stream.landings for one in landing):
        if message["topic"].startswith(before):
            message["topic"] = after + message["topic"].removeprefix(before)
    return stream


def mirrored(stream: Stream) -> Stream:
    return renamed(stream, "", "eu-west.")


def with_copy(stream: Stream) -> Stream:
    """The mirrored topics beside the originals; MirrorMaker does not keep offsets."""
    for landing in stream.landings:
        landing += [
            {
                **one,
                "topic": f"eu-west.{one['topic']}",
                "offset": one["offset"] + 7 * one["topic"].endswith(".transaction"),
            }
            for one in landing
        ]
    return stream


def partitioned(stream: Stream) -> Stream:
    """BEGIN and END in partitions by their key, as a producer chooses them."""
    offsets: Counter[int] = Counter()
    for message in (one for landing in stream.landings for one in landing):
        if message["topic"].endswith(".transaction"):
            partition = zlib.crc32(str(message["key"]).encode()) % PARTITIONS
            message |= {"partition": partition, "offset": offsets[partition]}
            offsets[partition] += 1
    return stream


def marked(stream: Stream, landing: int, statuses: Collection[str]) -> dict[int, list[int]]:
    """Of each partition up to a landing, which transactions its BEGIN and END are of."""
    found: dict[int, list[int]] = {}
    ids: list[str] = []
    for message in (one for some in stream.landings[: landing + 1] for one in some):
        if message["topic"].endswith(".transaction"):
            marker = json.loads(str(message["value"]))
            transaction = marker["id"]
            if isinstance(stream, Postgresql):
                transaction = transaction.partition(":")[0]
            if transaction not in ids:
                ids.append(transaction)
            if marker["status"] in statuses:
                found.setdefault(message["partition"], []).append(ids.index(transaction))
    return found


def provable(stream: Stream, landing: int) -> int:
    """How many transactions of a partitioned stream can be published.

    PostgreSQL's changes name their predecessor, and GTIDs of MySQL follow each other; elsewhere
    each partition must have come to a transaction. SQL Server's BEGIN names no database.
    """
    ended = 2 + 2 * landing - (stream.connector == "db2")
    if isinstance(stream, Postgresql):
        return ended
    statuses = ("END",) if isinstance(stream, Sqlserver) else ("BEGIN", "END")
    partitions = marked(stream, landing, statuses)
    count = 0
    while count < ended and (
        (type(stream) is Mysql and count > 0)
        or all(max(partitions.get(at, [-1])) >= count for at in range(max(partitions) + 1))
    ):
        count += 1
    return count


def streams() -> Iterator[Stream]:
    for kind in KINDS:
        yield partitioned(filled(kind(f"tt_{kind.connector}_parts")))
        yield mirrored(filled(kind(f"tt_{kind.connector}_mirror")))
        yield with_copy(filled(kind(f"tt_{kind.connector}_copy")))
    for name, topic in (
        ("tt_option", "tt_option.tx-metadata"),
        ("tt_delim", "tt_delim_transaction"),
        ("tt_first", "routed.first"),
        ("tt_set", "routed.set_tx"),
        ("tt_twin_a", "routed.one"),
        ("tt_twin_b", "routed.two"),
    ):
        yield renamed(filled(Postgresql(name)), f"{name}.transaction", topic)
    yield renamed(filled(Mysql("tt_mysql")), "tt_mysql.transaction", "routed.mysql")

    # GTIDs of two servers have no order.
    failed_over = Mysql("tt_two_servers")
    failed_over.read(create("orders", id=1, v="a"))
    failed_over.commit(update("orders", id=1, v="b"))
    failed_over.server = "4ff300ed-e55c-11f1-98c4-02fc00000001:"
    failed_over.commit(update("orders", id=1, v="c"))
    yield partitioned(failed_over)

    # The same ids and counts come a run later: what was decided stays.
    second = renamed(filled(Postgresql("tt_second")), "tt_second.transaction", "routed.second")
    first, later, latest = second.landings
    latest += later
    later[:] = first
    first.clear()
    yield second

    # Two servers of MariaDB give out the same GTIDs. Of one, only BEGIN and END land at first.
    for name in ("tt_maria_a", "tt_maria_b"):
        server = Mariadb(name)
        server.server = "7-1-"
        filled(server)
        if name == "tt_maria_b":
            server.delay("orders")
        yield server

    # So do two young servers of PostgreSQL.
    for name in ("tt_young_a", "tt_young_b"):
        young = filled(Postgresql(name))
        if name == "tt_young_b":
            young.delay("orders")
        yield young

    # Its BEGIN and END land before anything else of it.
    late = renamed(filled(Postgresql("tt_late")), "tt_late.transaction", "routed.late")
    late.delay("orders")
    yield late


@dataclass(frozen=True, slots=True)
class Run:
    """What one of the runs has left."""

    cuts: dict[str, Row]
    unplaced: list[str]
    held_markers: int


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Run]]:
    some = list(streams())
    messages = [one for stream in some for landing in stream.landings for one in landing]
    tables = tables_of(messages, [Group("tt_*", "tt")])
    with open_lake(tmp_path_factory.mktemp("topics"), tables, SETTINGS) as lake:
        yield [run(lake, some, landing) for landing in range(3)]


def run(lake: Lake, some: list[Stream], landing: int) -> Run:
    arrivals = [Arrival(one.prefix, one.landings[landing], []) for one in some]
    lake.land_arrivals(f"landing_{landing}", [one for one in arrivals if one.messages])
    assert lake.build(), lake.lines
    ((held,),) = lake.rows(
        "select count(*) from build.held_message as held "
        "inner join build.cut on held.cut_id = cut.cut_id and cut.channel = 'published' "
        "where held.kind = 'transaction_marker' and held.topic like 'routed.%'"
    )
    return Run(lake.cuts(), unplaced_topics(SparkReader(lake.spark)), int(str(held)))


def proof_of(entry: Row) -> tuple[int, str, list[str]]:
    return entry["commit_number"], entry["proof"], [one["reason"] for one in entry["held"]]


@pytest.mark.parametrize("form", ["mirror", "copy"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_mirrored_topic_is_of_the_source_that_it_mirrors(
    runs: list[Run], kind: type[Stream], form: str
) -> None:
    source = f"tt_{kind.connector}_{form}" + (".testDB" if kind is Sqlserver else "")
    for landing, commits in ((0, 3), (1, 5)):
        entry = runs[landing].cuts[source]
        # Db2 sends END with the next transaction.
        waiting = 1 if kind is Db2 else 0
        assert entry["commit_number"] == commits - waiting, entry["held"]
        assert entry["proof"] == "counted"
        assert len(entry["held"]) == waiting


@pytest.mark.parametrize("kind", KINDS)
def test_ids_order_a_transaction_topic_of_several_partitions(
    runs: list[Run], kind: type[Stream]
) -> None:
    stream = partitioned(filled(kind(f"tt_{kind.connector}_parts")))
    source = stream.prefix + (".testDB" if kind is Sqlserver else "")
    for landing in (0, 1):
        entry = runs[landing].cuts[source]
        assert entry["commit_number"] == 1 + provable(stream, landing), entry["held"]
        assert entry["proof"] == "counted"


def test_a_transaction_that_a_partition_may_precede_says_so(runs: list[Run]) -> None:
    reasons = {
        one["reason"]
        for name, entry in runs[1].cuts.items()
        if "_parts" in name
        for one in entry["held"]
    }
    assert "partition_behind" in reasons
    assert "missing_predecessor" not in reasons
    two_servers = runs[1].cuts["tt_two_servers"]["held"]
    assert {one["reason"] for one in two_servers} == {"unordered_partitions"}


@pytest.mark.parametrize("name", ["tt_option", "tt_delim", "tt_first", "tt_set", "tt_mysql"])
def test_a_topic_of_another_name_is_of_the_source_whose_changes_it_counts(
    runs: list[Run], name: str
) -> None:
    assert proof_of(runs[0].cuts[name]) == (3, "counted", [])
    assert proof_of(runs[1].cuts[name]) == (5, "counted", [])


def test_a_topic_keeps_its_source_when_another_has_the_same_ids_later(runs: list[Run]) -> None:
    assert proof_of(runs[2].cuts["tt_first"]) == (5, "counted", [])
    assert proof_of(runs[2].cuts["tt_second"]) == (5, "counted", [])


def test_begin_and_end_wait_until_a_change_shows_their_source(runs: list[Run]) -> None:
    assert "tt_late" not in runs[0].cuts
    assert any(one.startswith("routed.late: 4 BEGIN and END") for one in runs[0].unplaced)
    assert proof_of(runs[1].cuts["tt_late"]) == (5, "counted", [])


@pytest.mark.parametrize("name", ["tt_maria", "tt_young"])
def test_a_topic_with_the_default_name_waits_for_its_own_source(runs: list[Run], name: str) -> None:
    assert proof_of(runs[0].cuts[f"{name}_a"]) == (3, "counted", [])
    assert f"{name}_b" not in runs[0].cuts
    assert any(one.startswith(f"{name}_b.transaction: 4 BEGIN") for one in runs[0].unplaced)
    for source in (f"{name}_a", f"{name}_b"):
        assert proof_of(runs[1].cuts[source]) == (5, "counted", [])


def test_what_two_sources_fit_is_held_and_the_setting_named(runs: list[Run]) -> None:
    said = [one for one in runs[0].unplaced if one.startswith(("routed.one:", "routed.two:"))]
    assert len(said) == 2
    for one in said:
        assert "tt_twin_a, tt_twin_b" in one
        assert "transaction_topics: {'routed." in one
    for name in ("tt_twin_a", "tt_twin_b"):
        assert proof_of(runs[1].cuts[name]) == (1, "counted", ["no_end"] * 4)
    assert runs[1].held_markers == 16


def test_no_topic_makes_a_source_that_is_not_there(runs: list[Run]) -> None:
    for one in runs:
        assert all(name.startswith("tt_") for name in one.cuts), one.cuts.keys()
