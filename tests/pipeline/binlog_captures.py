"""What the captures of MySQL and MariaDB have in common: values, moments, arrivals."""

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from arrivals import Arrival, make_arrival, renamed, write_arrivals
from compare import (
    SIGNAL_TABLE,
    check_counts,
    compare_cut,
    read_cuts,
    read_tables,
    table_differences,
)
from mysql_oracle import MysqlHistory, expected_cut
from oracle import Message, Row, Table, rows_of
from pyspark.sql import SparkSession

from dbt_debezium.export import export
from dbt_debezium.preview import previewed
from dbt_debezium.scaffold.captured import CapturedTable, Group
from dbt_debezium.scaffold.tables import JSON_TEXT

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The table of signals, whose rows are no data: `preview` makes no models for it (S10)."""


class Difference(NamedTuple):
    """A row that the database holds otherwise than the tables, in the moments from one to another.

    Rows without their nulls, as `line` has them.
    """

    first: int
    last: int
    table: str
    in_database: str | None
    in_tables: str | None


def spread_truncates(messages: Sequence[Message]) -> list[Message]:
    """A capture with its truncates, which have no key, in the last known partition of the topic.

    So each may be missing while the transaction after it is whole. A truncate that is alone in its
    partition would leave no trace.
    """
    following: Counter[tuple[str, int]] = Counter()
    sent = []
    for message in messages:
        topic, partition = message["topic"], message["partition"]
        if '"op":"t"' in (message["value"] or ""):
            partition = max(known for other, known in following if other == topic)
        sent.append({**message, "partition": partition, "offset": following[topic, partition]})
        following[topic, partition] += 1
    return sent


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


def known_differences(
    cut: Mapping[str, Any], differences: Iterable[Difference]
) -> Counter[tuple[str, str, str]]:
    """What is known of a moment."""
    number = int(cut["cut"]["cut"][:3])
    return Counter(
        (known.table, row, where)
        for known in differences
        if known.first <= number <= known.last
        for row, where in ((known.in_database, "database"), (known.in_tables, "tables"))
        if row is not None
    )


def of_data(differing: Counter[tuple[str, str, str]]) -> Counter[tuple[str, str, str]]:
    """The differences of tables that have models."""
    return Counter({one: count for one, count in differing.items() if one[0] != SIGNAL_TABLE})


def line(row: Mapping[str, str | None]) -> str:
    """A row without its nulls: what an event does not carry is null in the tables."""
    return ", ".join(f"{name}={text}" for name, text in sorted(row.items()) if text is not None)


def by_name(tables: Mapping[Table, Sequence[Row]]) -> dict[str, Sequence[Row]]:
    return {name: rows for (_, name), rows in tables.items()}


def data_tables(tables: Mapping[Table, Sequence[Row]]) -> dict[Table, list[Row]]:
    """As `without_nulls`, of tables that have models."""
    return {
        table: rows for table, rows in without_nulls(tables).items() if table[1] != SIGNAL_TABLE
    }


def without_nulls(tables: Mapping[Table, Sequence[Row]]) -> dict[Table, list[Row]]:
    """The rows without what no event carries, and without what is null."""
    return {
        table: [{name: part for name, part in row.items() if part is not None} for row in rows]
        for table, rows in tables.items()
    }


# --- the whole capture


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


# --- arrivals

REPLAYS = (None, "tail", None, "crash")
"""Half of the arrivals hold messages that a restarted connector sent again."""


def some_arrivals(name: str, sent: Sequence[Message], count: int, source: str) -> list[Arrival]:
    """Random arrivals, and one whose truncates of one partition lag while all else is there."""
    truncates = [message for message in sent if '"op":"t"' in (message["value"] or "")]
    first = truncates[0]
    places = [
        place
        for place, message in enumerate(sent)
        if (message["topic"], message["partition"]) != (first["topic"], first["partition"])
        or message["offset"] < first["offset"]
    ]
    lagging = [renamed(sent[place], source, f"{name}_lagging") for place in places]
    return [
        Arrival(f"{name}_lagging", lagging, places),
        *(
            make_arrival(sent, seed, f"{name}_{seed:04d}", replay=REPLAYS[seed % len(REPLAYS)])
            for seed in range(count)
        ),
    ]


OfHistories = Sequence[tuple[MysqlHistory, Sequence[Arrival]]]
"""Arrivals, and the history that each is of."""
GROUPS = (Group("mysql_*", "mysql"), Group("maria_*", "maria"))
"""The tables of all arrivals of a server."""


def check_arrivals(folder: Path, arrivals: OfHistories) -> None:
    """Publish arrivals in one run, and compare what each proves of its history."""
    write_arrivals(folder / "dump", [arrival for _, some in arrivals for arrival in some])
    with previewed(folder / "dump", GROUPS) as built:
        export(built.spark, built.tables, folder / "export")
    assert differences_of(folder / "export", arrivals) == []


def differences_of(directory: Path, arrivals: OfHistories) -> list[str]:
    """Where an export is not what its arrivals prove."""
    published = read_cuts(directory)
    return [
        line
        for history, some in arrivals
        for arrival in some
        for line in arrival_differences(
            directory, arrival, published.get(arrival.prefix, {}), history
        )
    ]


def arrival_differences(
    directory: Path, arrival: Arrival, entry: Row, true_history: MysqlHistory
) -> list[str]:
    expected = expected_cut(true_history, arrival.places, arrival.messages)
    found = compare_cut(entry or None, expected, arrival.prefix)
    if arrival.messages:
        found += check_counts(entry, len(arrival.messages))
    state = true_history.state(int(entry.get("commit_number") or 0))
    tables = data_tables(read_tables(directory, arrival.prefix))
    return found + table_differences(arrival.prefix, data_tables(rows_of(state)), tables)
