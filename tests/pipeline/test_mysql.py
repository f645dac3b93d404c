"""A MySQL server's change log, whole and cut off at random, shows states of the server."""

import base64
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from arrivals import Arrival, make_arrival, renamed, write_arrivals
from compare import (
    check_counts,
    compare_cut,
    read_cuts,
    read_expected,
    read_tables,
    table_differences,
)
from figures import record
from lake import DATA, capture
from mysql_oracle import MysqlHistory, database_cuts, expected_cut
from oracle import Message, Row, Table, read_messages, rows_of
from pyspark.sql import SparkSession

from dbt_debezium.export import export
from dbt_debezium.preview import previewed
from dbt_debezium.scaffold import CapturedTable, Group
from dbt_debezium.tables import JSON_TEXT

NAME = "mysql_shop"
SOURCE = "msh"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SIGNALS = tuple(
    f'data={{"openWindowTimestamp": "2026-11-21T03:37:34.{nanos}Z"}}, id={uuid}-open, '
    "type=snapshot-window-open"
    for nanos, uuid in (
        ("324908837", "153c9cbc-555a-44ee-9f6d-8c2e7cca9f24"),
        ("336474436", "cf0e1485-8b97-4548-9a26-424d462507b9"),
    )
)


class Difference(NamedTuple):
    """A row that the database holds otherwise than the tables, in the moments from one to another.

    Rows without their nulls, as `line` has them.
    """

    first: int
    last: int
    table: str
    in_database: str | None
    in_tables: str | None


DIFFERENCES = (
    # The converter sends the default for null.
    Difference(9, 25, "ty", "b1=2, id=4", "b1=2, dflt=42, dfs=dflt, id=4"),
    # ADD COLUMN with a default, RENAME COLUMN, DROP COLUMN: rows change and nothing is sent.
    Difference(16, 16, "t1", "id=1, n=7, v=after truncate", "id=1, v=after truncate"),
    Difference(17, 17, "t1", "id=1, n=7, w=after truncate", "id=1, v=after truncate"),
    Difference(17, 17, "t1", "id=2, n=7, w=u", "id=2, n=7, v=u"),
    Difference(18, 18, "t1", "id=1, w=after truncate", "id=1, v=after truncate"),
    Difference(18, 18, "t1", "id=2, w=u", "id=2, n=7, v=u"),
    Difference(18, 18, "t1", "id=3, w=w", "id=3, n=9007199254740993, w=w"),
    # RENAME TABLE: rows stay under the name that they were sent with.
    Difference(19, 19, "t1", None, "id=1, v=after truncate"),
    Difference(19, 19, "t1", None, "id=2, n=7, v=u"),
    Difference(19, 19, "t1", None, "id=3, n=9007199254740993, w=w"),
    Difference(19, 19, "t1", None, "id=4, n=text, w=x"),
    Difference(19, 19, "t1_new", "id=1, w=after truncate", None),
    Difference(19, 19, "t1_new", "id=2, w=u", None),
    Difference(19, 19, "t1_new", "id=3, w=w", None),
    Difference(19, 19, "t1_new", "id=4, n=text, w=x", None),
    Difference(20, 25, "t1_new", None, "id=5, w=renamed"),
    # DROP TABLE removes rows and sends nothing; there were two of this one.
    Difference(21, 25, "nopk", None, "a=5, b=a"),
    Difference(21, 25, "nopk", None, "a=5, b=a"),
    # Rows that the connector put into its signal table while the moment was taken.
    Difference(24, 24, "debezium_signal", SIGNALS[0], None),
    Difference(24, 24, "debezium_signal", SIGNALS[1], None),
)
"""All that DDL did without an event, and two nulls."""


@cache
def messages() -> list[Message]:
    return read_messages(capture(NAME))


@cache
def spread_messages() -> list[Message]:
    """The capture with its truncates, which have no key, in the last known partition of the topic.

    So each may be missing while the transaction after it is whole. A truncate that is alone in its
    partition would leave no trace.
    """
    following: Counter[tuple[str, int]] = Counter()
    sent = []
    for message in messages():
        topic, partition = message["topic"], message["partition"]
        if '"op":"t"' in (message["value"] or ""):
            partition = max(known for other, known in following if other == topic)
        sent.append({**message, "partition": partition, "offset": following[topic, partition]})
        following[topic, partition] += 1
    return sent


@cache
def messages_without_gtids() -> list[Message]:
    """The same as a server without GTIDs sends it: ids are where BEGIN stands in the log."""
    sent = []
    ids: dict[str, str] = {}
    waiting = spread_messages()
    for message in waiting:
        value = json.loads(message["value"] or "{}")
        if gtid := (value.get("transaction") or {}).get("id"):
            place = value["source"]["pos"] - 1
            ids.setdefault(gtid, f"file={value['source']['file']},pos={place}")
    for message in waiting:
        texts = {name: message[name] for name in ("key", "value") if message[name]}
        for name, text in texts.items():
            without = re.sub('"gtid":"[^"]*"', '"gtid":null', text)
            texts[name] = re.sub(
                '(?<="id":")[^"]*:[0-9]+(?=")', lambda found: ids.get(found[0], found[0]), without
            )
        sent.append({**message, **texts})
    return sent


@cache
def history() -> MysqlHistory:
    return MysqlHistory(messages())


@cache
def history_without_gtids() -> MysqlHistory:
    return MysqlHistory(messages_without_gtids())


@cache
def cuts() -> list[dict[str, Any]]:
    with gzip.open(DATA / NAME / "cuts.jsonl.gz", "rt", encoding="utf-8") as lines:
        return database_cuts(lines)


# --- a value as MySQL shows it -----------------------------------------------------------------


def moment(micros: int, digits: int) -> str:
    text = (EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%d %H:%M:%S.%f")
    return text[: 19 + digits + bool(digits)]


def clock(micros: int, digits: int) -> str:
    seconds, fraction = divmod(abs(micros), 10**6)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
    return "-" * (micros < 0) + text[: len(text) - 6 + digits - (not digits)]


def hexadecimal(value: bytes) -> str:
    return f"0x{value.hex()}"


SHOWN: dict[str, Callable[[Any, int], str]] = {
    "bigint unsigned": lambda value, _: str(value % 2**64),
    "bit": lambda value, _: hexadecimal(
        bytes([value]) if isinstance(value, bool) else base64.b64decode(value)[::-1]
    ),
    **dict.fromkeys(
        ("binary", "varbinary", "blob"), lambda value, _: hexadecimal(base64.b64decode(value))
    ),
    "date": lambda value, _: moment(value * 86_400_000_000, 0)[:10],
    "datetime": lambda value, digits: moment(value * (1000 if digits <= 3 else 1), digits),
    "timestamp": lambda value, digits: moment(
        (datetime.fromisoformat(value) - EPOCH) // timedelta(microseconds=1), digits
    ),
    "time": clock,
    **dict.fromkeys(("float", "double"), lambda value, _: f"{float(value):g}"),
    "json": lambda value, _: json.dumps(json.loads(value)),
}
"""By MySQL's type how its client shows what was sent; others are the same text."""


def shown(column_type: str, value: Any) -> str | None:
    """A value without schema, as MySQL's client shows it."""
    if value is None:
        return None
    name, digits = re.sub(r"\(.*\)", "", column_type), re.search(r"\((\d)\)", column_type)
    return SHOWN[name](value, int(digits[1]) if digits else 0) if name in SHOWN else str(value)


def differences(
    cut: Mapping[str, Any], found: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Counter[tuple[str, str, str]]:
    """Table, row, and where it is: in the `database` only, or in the `tables` only."""
    differing: Counter[tuple[str, str, str]] = Counter()
    for table in cut["tables"].keys() | found.keys():
        types = cut["columns"].get(table, {})
        database = Counter(
            line({name: normal(types[name], text) for name, text in row.items()})
            for row in cut["tables"].get(table, ())
        )
        tables = Counter(
            line({name: shown(types.get(name, "text"), value) for name, value in row.items()})
            for row in found.get(table, ())
        )
        for only, where in ((database - tables, "database"), (tables - database, "tables")):
            differing.update({(table, row, where): count for row, count in only.items()})
    return differing


def normal(column_type: str, text: str | None) -> str | None:
    """The database's text; of JSON without what only its spelling says."""
    return json.dumps(json.loads(text)) if column_type == "json" and text else text


def known_differences(cut: Mapping[str, Any]) -> Counter[tuple[str, str, str]]:
    """What DIFFERENCES says of a moment."""
    number = int(cut["cut"]["cut"][:3])
    return Counter(
        (known.table, row, where)
        for known in DIFFERENCES
        if known.first <= number <= known.last
        for row, where in ((known.in_database, "database"), (known.in_tables, "tables"))
        if row is not None
    )


def line(row: Mapping[str, str | None]) -> str:
    """A row without its nulls: what an event does not carry is null in the tables."""
    return ", ".join(f"{name}={text}" for name, text in sorted(row.items()) if text is not None)


def by_name(tables: Mapping[Table, Sequence[Row]]) -> dict[str, Sequence[Row]]:
    return {name: rows for (_, name), rows in tables.items()}


def without_nulls(tables: Mapping[Table, Sequence[Row]]) -> dict[Table, list[Row]]:
    """The rows without what no event carries, and without what is null."""
    return {
        table: [{name: part for name, part in row.items() if part is not None} for row in rows]
        for table, rows in tables.items()
    }


# --- the whole capture -------------------------------------------------------------------------


Version = tuple[int, int | None, Row]
"""The first commit that has the row, the first that has it no more, and the row."""


def versions(spark: SparkSession, table: CapturedTable) -> list[Version]:
    """All versions of a table's rows."""
    types = table.facts.types()
    return [
        (
            row["_valid_from"],
            row["_valid_to"],
            {name: value_of(row[name], kind) for name, kind in types.items()},
        )
        for row in spark.table(f"public.{table.model_name}_history").collect()
    ]


def value_of(value: Any, kind: str) -> Any:
    """A value as JSON has it; fractions are decimals, as the oracle has them."""
    if isinstance(value, float):
        return Decimal(str(value))
    return json.loads(value) if kind == JSON_TEXT and value is not None else value


def as_of(histories: Mapping[Table, Sequence[Version]], number: int) -> dict[Table, list[Row]]:
    """All tables after a commit."""
    return {
        table: [
            row for first, end, row in some if first <= number and (end is None or end > number)
        ]
        for table, some in histories.items()
    }


@pytest.fixture(scope="module", autouse=True)
def values_as_they_were_sent() -> Iterator[None]:
    """The oracle knows values as the messages have them, without the types that the topic tells."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dbt_debezium.tables.announced_type", lambda *_: None)
        yield


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Row, dict[Table, list[Version]]]:
    """The entry of `cut.json`, and every version of every row."""
    folder = tmp_path_factory.mktemp("mysql")
    with previewed(capture(NAME), settings={"landing_reaches_the_end": True}) as built:
        export(built.spark, built.tables, folder)
        histories = {
            (table.schema or "", table.table): versions(built.spark, table)
            for table in built.tables
        }
    return read_cuts(folder)[SOURCE], histories


def test_ids_without_gtids_change_no_state() -> None:
    other = history_without_gtids()
    assert not other.numbers
    assert len(other.commits) == len(history().commits)
    for number in range(0, len(other.commits) + 1, 8):
        assert other.state(number) == history().state(number)


def test_the_oracle_says_what_the_server_said() -> None:
    assert len(cuts()) == 25
    for cut in cuts():
        state = history().state(history().commit_of(cut["transaction_id"]))
        assert differences(cut, by_name(rows_of(state))) == known_differences(cut), cut["cut"]


def test_the_last_moment_is_the_end() -> None:
    expected = read_expected(DATA / NAME).tables
    assert {name: rows for (_, name), rows in expected.items()} == cuts()[-1]["tables"]


def test_a_change_log_is_published_to_its_end(
    whole: tuple[Row, dict[Table, list[Version]]],
) -> None:
    entry, _ = whole
    assert (entry["commit_number"], entry["held"], entry["quarantined"]) == (176, [], [])
    assert (entry["transaction_id"], entry["proof"]) == (cuts()[-1]["transaction_id"], "counted")
    assert check_counts(entry, len(messages())) == []


def test_each_moment_of_the_history_is_one_of_the_server(
    whole: tuple[Row, dict[Table, list[Version]]],
) -> None:
    _, histories = whole
    for cut in cuts():
        found = as_of(histories, history().commit_of(cut["transaction_id"]))
        assert differences(cut, by_name(found)) == known_differences(cut), cut["cut"]


def test_each_commit_of_the_history_is_one_of_the_server(
    whole: tuple[Row, dict[Table, list[Version]]],
) -> None:
    _, histories = whole
    for number in range(len(history().commits) + 1):
        expected = without_nulls(rows_of(history().state(number)))
        found = without_nulls(as_of(histories, number))
        assert table_differences(f"commit {number}", expected, found) == []


# --- arrivals ----------------------------------------------------------------------------------

REPLAYS = (None, "tail", None, "crash")
"""Half of the arrivals hold messages that a restarted connector sent again."""


def some_arrivals(name: str, sent: list[Message], count: int) -> list[Arrival]:
    """Random arrivals, and one whose truncates of one partition lag while all else is there."""
    truncates = [message for message in sent if '"op":"t"' in (message["value"] or "")]
    first = truncates[0]
    places = [
        place
        for place, message in enumerate(sent)
        if (message["topic"], message["partition"]) != (first["topic"], first["partition"])
        or message["offset"] < first["offset"]
    ]
    lagging = [renamed(sent[place], SOURCE, f"{name}_lagging") for place in places]
    return [
        Arrival(f"{name}_lagging", lagging, places),
        *(
            make_arrival(sent, seed, f"{name}_{seed:04d}", replay=REPLAYS[seed % len(REPLAYS)])
            for seed in range(count)
        ),
    ]


def check_arrivals(folder: Path, count: int) -> None:
    """Publish arrivals in one run, half of them without GTIDs, and compare what each proves."""
    found: list[str] = []
    kinds = {
        "some_gtid": (history(), some_arrivals("some_gtid", spread_messages(), count)),
        "some_file": (
            history_without_gtids(),
            some_arrivals("some_file", messages_without_gtids(), count),
        ),
    }
    arrivals = [arrival for _, some in kinds.values() for arrival in some]
    write_arrivals(folder / "dump", arrivals)
    with previewed(folder / "dump", [Group("some_*", "some")]) as built:
        export(built.spark, built.tables, folder / "export")
    published = read_cuts(folder / "export")
    for name, (true_history, some) in kinds.items():
        reached = []
        for arrival in some:
            entry = published.get(arrival.prefix, {})
            reached.append(int(entry.get("commit_number") or 0))
            found += arrival_differences(folder / "export", arrival, entry, true_history)
        print(f"{name}: {len(some)} arrivals, published {sorted(reached)}")
    assert found == []


def arrival_differences(
    directory: Path, arrival: Arrival, entry: Row, true_history: MysqlHistory
) -> list[str]:
    expected = expected_cut(true_history, arrival.places, arrival.messages)
    found = compare_cut(entry or None, expected, arrival.prefix)
    if arrival.messages:
        found += check_counts(entry, len(arrival.messages))
    state = true_history.state(int(entry.get("commit_number") or 0))
    tables = without_nulls(read_tables(directory, arrival.prefix))
    return found + table_differences(arrival.prefix, without_nulls(rows_of(state)), tables)


def test_an_arrival_shows_the_largest_provable_state(tmp_path: Path) -> None:
    check_arrivals(tmp_path, 12)


@pytest.mark.proof
def test_a_hundred_arrivals_show_the_largest_provable_state(tmp_path: Path) -> None:
    check_arrivals(tmp_path, 100)
    record(
        f"Random arrivals of the capture {NAME} show the largest provable state",
        "100 arrivals with GTIDs and 100 without: 0 wrong, 0 not the largest, 0 lost",
    )
