"""What connectors send by default, without transaction metadata, and MySQL without GTIDs.

Random sources land in three parts. The first ends where a transaction does, in every partition,
and the run is told so (`landing_reaches_the_end`). The second ends anywhere, and nothing is said.
The third brings the rest. Readers see only states that were, and all of what is complete.

In the same lake are sources of test_dropped_fields.py, which land with the first and the third.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from arrivals import Arrival, landings, make_arrival, write_arrivals
from binlog_captures import without_nulls
from captured_servers import MYSQL
from compare import check_all_counts, read_tables
from dropped_fields import Variant
from lake import DATA, open_lake, tables_of
from oracle import Bag, Message, Row, Table, freeze, read_messages, rows_of
from random_streams import (
    SNAPSHOTTING,
    Source,
    State,
    Writer,
    advance,
    bounds_of,
    delivered,
)
from streams import (
    Change,
    Db2,
    Mariadb,
    Mysql,
    Oracle,
    Postgresql,
    Sqlserver,
    Stream,
    truncate,
)
from test_dropped_fields import (
    GENERIC,
    GROUP,
    modelled_messages,
    outcomes_at_the_end,
    some_variants,
)
from test_dropped_fields import differences as variant_differences
from test_mysql import history_without_gtids, messages_without_gtids
from test_random_landings import shown_states

from dbt_debezium.scaffold.captured import Group

pytestmark = pytest.mark.slow

SEED = 1
COMPLETE = json.dumps({"landing_reaches_the_end": True})


class MysqlWithoutGtids(Mysql):
    """A server as it is installed: `gtid_mode` is off."""

    has_gtids = False


KINDS = (Postgresql, Sqlserver, Db2, Oracle, Mysql, MysqlWithoutGtids, Mariadb)


class DefaultsWriter(Writer):
    """Of a stream without transaction metadata."""

    touched: int | None = None
    """The step after which each partition has something."""

    def commit(self, changes: Sequence[Change]) -> None:
        stream = self.stream
        may_rotate = isinstance(stream, MysqlWithoutGtids) and self.touched is not None
        if may_rotate and self.rng.random() < 0.15:
            stream.rotate()
        super().commit(changes)
        if isinstance(stream, MysqlWithoutGtids) and self.rng.random() < 0.15:
            self.truncate(stream)

    def touch(self, partition_count: int) -> None:
        super().touch(partition_count)
        if self.touched is None:
            self.touched = len(self.steps) - 1

    def truncate(self, stream: MysqlWithoutGtids) -> None:
        """TRUNCATE is a transaction by itself, and a place where the one before it has ended."""
        table = self.rng.choice(("orders", "items"))
        self.starts.append(len(stream.landings[0]))
        stream.pos += 50
        change = self.apply(truncate(table))
        stream.send_change(change, stream.place(table, stream.pos, gtid=None))
        stream.pos += 50
        self.note()


def restarted(rng: Random, writer: Writer, log: list[Message], stop: int) -> list[Message]:
    """The log of a connector that was killed at a place and sent its last transactions again."""
    reads = [at for at in range(stop) if '"op": "r"' in str(log[at]["value"])]
    starts = [at for at in writer.starts if max(reads, default=-1) < at < stop][-3:]
    return log[:stop] + log[rng.choice(starts) :] if starts else log


def draw(rng: Random, number: int) -> tuple[Source, int]:
    """A random source in three landings, and the step that the first one reaches."""
    kind = KINDS[number % len(KINDS)]
    stream: Stream = kind(f"d{number:04d}_{kind.connector}")
    stream.has_metadata = False
    can_read = isinstance(stream, SNAPSHOTTING)
    begins_read = can_read and rng.random() < 0.6
    reads_again = can_read and rng.random() < 0.3
    has_bag = not (begins_read or reads_again) and rng.random() < 0.4
    writer = DefaultsWriter(rng, stream, has_bag=has_bag)
    partition_count = rng.choice((1, 2))
    behind = writer.write(partition_count, begins_read=begins_read, reads_again=reads_again)
    log = stream.landings[0]
    assert writer.touched is not None
    stop = rng.randint(writer.ends[writer.touched], behind)
    if rng.random() < 0.4:
        log = restarted(rng, writer, log, stop)
    else:
        stop = len(log)
    log = delivered(log, rng, partition_count)

    # What a partition holds of which nothing has landed is not known.
    step = rng.choice(
        [
            step
            for step in range(writer.touched, len(writer.steps))
            # Of commits that a snapshot alone shows, the log tells nothing before it.
            if writer.ends[step - 1] < writer.ends[step] <= stop
        ]
    )
    start = writer.ends[step]
    parts: list[list[Message]] = [log[:start], [], []]
    places: dict[tuple[str, int], list[int]] = {}
    for at in range(start, len(log)):
        places.setdefault((log[at]["topic"], log[at]["partition"]), []).append(at)
    moment = rng.uniform(start, len(log))
    jitter = rng.choice((0.0, 0.05, 0.3)) * len(log)
    for ats in places.values():
        (bound,) = bounds_of(rng, ats, [moment], jitter)
        parts[1] += [log[at] for at in ats[:bound]]
        parts[2] += [log[at] for at in ats[bound:]]
    for part in parts:
        rng.shuffle(part)
    return Source(stream.prefix, writer.steps, parts, is_whole=True, is_behind=False), step


def differences(
    one: Source,
    part: int,
    at_least: int | None,
    reached: dict[str, int],
    shown: State,
    cuts: Mapping[str, Row],
) -> Iterator[str]:
    yield from advance(one.prefix, one.states, shown, reached)
    landed = sum(len(messages) for messages in one.parts[: part + 1])
    yield from check_all_counts(cuts, one.prefix, landed)
    entries = [cuts[name] for name in {one.prefix, one.name} & cuts.keys()]
    held = [f"{item['transaction_id']} ({item['reason']})" for e in entries for item in e["held"]]
    if at_least is not None:
        if one.states[at_least] != shown:
            yield f"shows {reached[one.prefix]}, not {at_least}, though all has landed"
        if held:
            yield f"holds {held}, though all has landed"
    elif not held and any(entry["counts"]["held"] for entry in entries):
        yield "holds messages and does not say why"
    proofs = {entry["proof"] for entry in entries if entry["transaction_id"]}
    if proofs - {"watermark"}:
        yield f"is proved by {proofs}"


def drawn_sources() -> list[tuple[Source, int]]:
    return [draw(Random(f"{SEED} {number}"), number) for number in range(70)]


# --- a real server's log -----------------------------------------------------------------------


def as_sent_by_default(message: Message) -> Message:
    """Without transaction metadata."""
    value = message["value"] and re.sub(
        r'"transaction":\{[^}]*\}', '"transaction":null', message["value"]
    )
    return {**message, "value": value}


def server_arrivals() -> list[Arrival]:
    """One log of a server without GTIDs, as twelve sources that land in other orders."""
    sent = [
        as_sent_by_default(message)
        for message in messages_without_gtids()
        if message["topic"] != f"{MYSQL.source}.transaction"
    ]
    return [make_arrival(sent, seed, f"default_{seed:02}", mode="whole") for seed in range(12)]


def frozen(tables: Mapping[Table, Sequence[Row]]) -> dict[Table, Bag]:
    return {
        table: Counter(map(freeze, rows)) for table, rows in without_nulls(tables).items() if rows
    }


def shown_places(directory: Path, prefix: str, states: Sequence[dict[Table, Bag]]) -> list[int]:
    """Which states an export may show."""
    shown = frozen(read_tables(directory, prefix))
    return [at for at, state in enumerate(states) if state == shown]


# --- live servers ------------------------------------------------------------------------------

DUMPS = sorted(DATA.glob("defaults_*"))
"""Recorded from servers by tests/live/record_defaults.py, with what each held at the end."""


def source_of(dump: Path) -> str:
    topic: str = read_messages(dump / "events.jsonl.gz")[0]["topic"]
    return topic.split(".")[0]


def rows_as_text(lines: Iterable[str]) -> Counter[str]:
    """Rows in any order; decimals as their text."""
    return Counter(json.dumps(json.loads(line, parse_float=str), sort_keys=True) for line in lines)


# --- one lake for all --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """What readers see after a landing."""

    states: dict[str, State]
    cuts: dict[str, Row]
    directory: Path


@dataclass(frozen=True, slots=True)
class Built:
    """The three landings of drawn sources, and with the last two those of the servers."""

    drawn: list[tuple[Source, int]]
    variants: list[Variant]
    rounds: list[Shown]
    failures: list[str]
    """What the project's own tests said."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("defaults")
    drawn, servers, variants = drawn_sources(), server_arrivals(), some_variants()
    halves = [landings(arrival, 2, seed) for seed, arrival in enumerate(servers)]
    dumps = [message for dump in DUMPS for message in read_messages(dump / "events.jsonl.gz")]
    of_drawn = [message for one, _ in drawn for part in one.parts for message in part]
    known = [*of_drawn, *dumps, *modelled_messages(variants)]
    tables = tables_of(known, [Group("d0*", "drawn"), GROUP], GENERIC)
    of_servers = tables_of(servers[0].messages, [Group("default_*", "server")])
    for table in of_servers:
        # The oracle knows values as they were sent.
        table.facts.announced.clear()
    tables += of_servers
    built = Built(drawn, variants, [], [])
    with open_lake(folder, tables, GENERIC) as lake:
        for part, is_complete in ((0, True), (1, False), (2, True)):
            arrivals = [Arrival(one.prefix, one.parts[part], []) for one, _ in drawn]
            arrivals += [half[part - 1] for half in halves] if part else []
            if part != 1:
                arrivals += [Arrival(one.prefix, one.parts[part // 2], []) for one in variants]
            write_arrivals(folder / f"landing_{part}", arrivals, combined="all")
            lake.land(folder / f"landing_{part}")
            if part == 1:
                for dump in DUMPS:
                    lake.land(dump / "events.jsonl.gz")
            settings = ("--vars", COMPLETE) if is_complete else ()
            if not lake.build(*settings, command="build" if part == 2 else "run"):
                built.failures.extend(lake.lines)
                assert lake.build(*settings, command="run"), lake.lines
            export = lake.export(f"export_{part}")
            built.rounds.append(Shown(shown_states(lake), lake.cuts(), export))
    return built


def test_the_project_s_own_tests_pass(built: Built) -> None:
    assert built.failures == []


def test_default_streams_show_only_states_that_were_and_all_when_told(built: Built) -> None:
    wrong: list[str] = []
    reached = dict.fromkeys((one.prefix for one, _ in built.drawn), 0)
    for part, (states, cuts) in enumerate((one.states, one.cuts) for one in built.rounds):
        for one, step in built.drawn:
            at_least = {0: step, 1: None, 2: len(one.states) - 1}[part]
            found = differences(one, part, at_least, reached, states.get(one.name, {}), cuts)
            wrong += [f"{one.prefix} after landing {part}: {line}" for line in found]
    assert wrong == [], "\n".join(wrong)


def test_no_missing_field_makes_a_wrong_row(built: Built) -> None:
    wrong = [
        f"{one.what}, landing {part}: {line}"
        for part, shown in enumerate(built.rounds)
        for one in built.variants
        for line in variant_differences(one, shown.states, shown.cuts)
    ]
    assert wrong == [], "\n".join(wrong)
    outcomes = outcomes_at_the_end(built.variants, built.rounds[-1].states)
    # A field that says nothing of place or table must not cost anything.
    assert outcomes["right"] > len(built.variants) / 4, outcomes


def test_a_server_without_gtids_shows_only_states_that_were_and_all_when_told(
    built: Built,
) -> None:
    history = history_without_gtids()
    last = len(history.commits)
    states = [frozen(rows_of(history.state(at))) for at in range(last + 1)]
    _, cut_anywhere, complete = built.rounds
    for one in server_arrivals():
        assert shown_places(cut_anywhere.directory, one.prefix, states), one.prefix
        assert last in shown_places(complete.directory, one.prefix, states), one.prefix
        entry = complete.cuts[one.prefix]
        assert (entry["proof"], entry["held"]) == ("watermark", []), one.prefix


def test_dumps_of_default_connectors_give_the_tables_of_their_servers(built: Built) -> None:
    sources = {dump: source_of(dump) for dump in DUMPS}
    assert len(set(sources.values())) == len(DUMPS) >= 3
    _, unfinished, complete = built.rounds
    for dump, source in sources.items():
        # Nothing shows that the last transaction is whole.
        assert unfinished.cuts[source]["held"], source
        entry = complete.cuts[source]
        assert (entry["proof"], entry["held"]) == ("watermark", []), source
        assert entry["counts"]["held"] == 0
        schema = "public" if dump.name.endswith("postgresql") else "shop"
        for table in ("customers", "orders", "order_items"):
            path = complete.directory / source / f"{schema}.{table}.jsonl"
            found = path.read_text().splitlines()
            expected = (dump / "expected" / f"{table}.jsonl").read_text().splitlines()
            assert rows_as_text(found) == rows_as_text(expected), f"{source}: {table}"
