"""Captures of every type of PostgreSQL and MySQL show what the database held, or name what is lost.

MySQL's messages have no schema block: the schema-change topic tells the types.
"""

import gzip
import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from compare import read_expected
from engines import agreed_status
from lake import DATA, Lake, capture, open_lake, tables_of
from oracle import read_messages

from dbt_debezium.doctor.null_defaults import null_default_sentences
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.readers.spark_values import with_text_times
from dbt_debezium.scaffold.captured import CapturedTable
from dbt_debezium.status.published_rows import published_rows
from dbt_debezium.status.unrepresentable import unrepresentable_counts

pytestmark = pytest.mark.slow

LOST: dict[tuple[str, str], str] = {
    ("txt", "nm"): "the connector sends null for the type name",
    ("arr", "ia2"): "the connector sends null for each inner array",
    ("arr", "nfa"): "the connector sends null for an array with NaN",
    ("arr", "ma"): "the connector sends null for an array of an enum with null",
    ("defs", "gen"): "PostgreSQL 15 does not publish generated columns",
    ("defs", "i"): "the converter sends the default for null",
    ("defs", "t"): "the converter sends the default for null",
    ("defs", "ts"): "the converter sends the default for null",
    ("defs", "b"): "the converter sends the default for null",
    ("ty", "dflt"): "the converter sends the default for null",
    ("ty", "dfs"): "the converter sends the default for null",
}
"""What does not arrive, however it is decoded: docs/types.md names each."""


KEYS = ("id", "k", "k2")
"""The key columns of PostgreSQL's tables."""


def number(text: str) -> Decimal:
    return Decimal(re.sub(r"[$,]", "", text))


def same_number(text: str, found: Any) -> bool:
    return number(text) == Decimal(found) or text == "NaN" == Decimal(found).to_eng_string()


def same_float(code: str) -> Callable[[str, Any], bool]:
    def same(text: str, found: float) -> bool:
        return struct.pack(code, float(text)) == struct.pack(code, found) or text == str(found)

    return same


def same_time(text: str, found: str) -> bool:
    clock, _, fraction = text.partition(".")
    return found == f"{clock}.{fraction:0<6}"


def same_zoned_time(text: str, found: str) -> bool:
    """The connector moves it to UTC; the day before or after has the same times."""
    clock, sign, hours, minutes = re.findall(r"^(.*)([-+])(\d+):?(\d*)$", text)[0]
    shift = timedelta(hours=int(hours), minutes=int(minutes or 0)) * (1 if sign == "-" else -1)
    moment = datetime(2000, 1, 2) + shift
    hour, minute, second = clock.split(":")
    moment += timedelta(hours=int(hour), minutes=int(minute), seconds=float(second))
    shown = moment.strftime("%H:%M:%S") + f".{moment.microsecond:06d}".rstrip("0").rstrip(".")
    return found == f"{shown}Z"


def same_interval(text: str, found: int) -> bool:
    """Microseconds, a month being 30.4375 days: Debezium's MicroDuration."""
    days = Decimal(0)
    lengths = {"year": Decimal("365.25"), "mon": Decimal("30.4375"), "day": Decimal(1)}
    for count, unit in re.findall(r"(-?\d+) (year|mon|day)", text):
        days += Decimal(count) * lengths[unit]
    seconds = Decimal(0)
    for sign, hours, minutes, rest in re.findall(r"([-+]?)(\d+):(\d+):([\d.]+)", text):
        clock = int(hours) * 3600 + int(minutes) * 60 + Decimal(rest)
        seconds += -clock if sign == "-" else clock
    return found == (days * 86400 + seconds) * 10**6


def same_hstore(text: str, found: str) -> bool:
    part = r'"((?:[^"\\]|\\.)*)"'
    pairs = re.findall(rf"{part}=>(?:{part}|NULL)", text)
    unescaped = [(re.sub(r"\\(.)", r"\1", one) for one in pair) for pair in pairs]
    nulls = re.findall(rf"{part}=>NULL", text)
    return json.loads(found) == {key: None if key in nulls else value for key, value in unescaped}


def same_point(text: str, found: Any) -> bool:
    return tuple(map(float, text.strip("()").split(","))) == (found.x, found.y)


def same_address(text: str, found: str) -> bool:
    """The connector leaves out the mask of a single address."""
    return text in (found, f"{found}/32", f"{found}/128")


def array_items(text: str) -> list[str | None]:
    """PostgreSQL's array literal of one dimension."""
    items = re.findall(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)', text[1:-1])
    return [
        None if bare == "NULL" else bare or re.sub(r"\\(.)", r"\1", quoted)
        for quoted, bare in items
    ]


Same = dict[str, Callable[[str, Any], bool]]
SAME: Same = {
    **dict.fromkeys(("smallint", "integer", "bigint", "oid", "posint"), lambda t, f: int(t) == f),
    **dict.fromkeys(("numeric", "money", "money2"), same_number),
    "real": same_float(">f"),
    "double precision": same_float(">d"),
    "boolean": lambda t, f: t in (str(f).lower(), str(f).lower()[0]),
    "bytea": lambda t, f: bytes.fromhex(t.removeprefix("\\x")) == f,
    "timestamp with time zone": lambda t, f: t == f"{f}+00",
    "time without time zone": same_time,
    "time with time zone": same_zoned_time,
    **dict.fromkeys(
        ("interval", "interval year to month", "interval day to second"), same_interval
    ),
    "bit": lambda t, f: f == (t == "1") if isinstance(f, bool) else f == t,
    "bit varying": lambda t, f: t.lstrip("0") == f.lstrip("0"),
    "point": same_point,
    "character": lambda t, f: t == f.rstrip(" "),
    "inet": same_address,
    "hstore": same_hstore,
}
"""By PostgreSQL's type, whether its text says what is found; others are the same text."""


MYSQL_SAME: Same = {
    **dict.fromkeys(
        ("tinyint", "smallint", "mediumint", "int", "bigint", "year"), lambda t, f: int(t) == f
    ),
    "decimal": same_number,
    "float": same_float(">f"),
    "double": same_float(">d"),
    "bit": lambda t, f: int(t, 16) == (f if isinstance(f, bool) else int(f, 2)),
    **dict.fromkeys(
        ("binary", "varbinary", "blob"), lambda t, f: bytes.fromhex(t.removeprefix("0x")) == f
    ),
    "time": same_time,
    "json": lambda t, f: json.loads(t) == json.loads(f),
}
MYSQL_TABLES = {"customers", "order_items", "orders", "payments", "products", "ty"}
"""Those whose rows are all in the messages, with values as the server has them."""


def is_same(column_type: str, text: str, found: Any, same: Same = SAME) -> bool:
    if column_type.endswith("[]"):
        items = array_items(text)
        return len(items) == len(found) and all(
            one is other if None in (one, other) else is_same(column_type[:-2], one or "", other)
            for one, other in zip(items, found, strict=True)
        )
    name = bare(column_type)
    return same[name](text, found) if name in same else text == found


def bare(column_type: str) -> str:
    """The type's name: without its numbers, its values, or that it has no sign."""
    return re.sub(r"\(.*\)| unsigned", "", column_type)


def without_schema(table: CapturedTable) -> CapturedTable:
    """The table as a connector with decimals as text, and no schema, sends it."""
    facts = msgspec.structs.replace(table.facts, source="plain", connect_types={
        name: re.sub(r"^string from org.*|^string from io.*Decimal$", "string", re.sub(
            r"^(decimal\S+) from org.*", r"\1", re.sub(
                r"array<(decimal|string)(\S*)> from array<\S*Decimal\S*>",
                r"array<\1\2> from array", column_type)))
        for name, column_type in table.facts.connect_types.items()
    })  # fmt: skip
    return CapturedTable(
        "plain", table.schema, table.table, ["plain"], facts, f"{table.model_name}_plain"
    )


def renamed(messages: Path, path: Path) -> Path:
    """The messages of another source: both captures are of one."""
    text = gzip.decompress(messages.read_bytes()).decode()
    text = text.replace('"topic":"types.', '"topic":"plain.')
    path.write_text(text.replace(r"\"name\":\"types\"", r"\"name\":\"plain\""))
    return path


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    tables = tables_of(read_messages(capture("types_schema")))
    tables += [without_schema(table) for table in tables]
    mysql = tables_of(read_messages(capture("mysql_shop")))
    tables += [table for table in mysql if table.table in MYSQL_TABLES]
    folder = tmp_path_factory.mktemp("types")
    with open_lake(folder, tables) as opened:
        opened.land(capture("types_schema"))
        opened.land(renamed(capture("types"), folder / "plain.jsonl"))
        opened.land(capture("mysql_shop"))
        is_good = opened.build("--vars", "{landing_reaches_the_end: true}", command="run")
        assert is_good, opened.lines
        assert all(not cut["held"] for cut in opened.cuts().values()), opened.cuts()
        yield opened


@pytest.mark.fault(52, 53, 55, 56, 58, 59, 60, 61)
def test_every_value_is_what_the_database_held_or_is_named(lake: Lake) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    differences: list[str] = []
    lost: set[tuple[str, str]] = set()
    for table in lake.tables:
        is_mysql = table.table in MYSQL_TABLES
        database = read_expected(DATA / ("mysql_shop" if is_mysql else "types"))
        place = (table.schema or "", table.table)
        column_types = database.column_types[place]
        keys = table.facts.key_columns if is_mysql else KEYS
        same = MYSQL_SAME if is_mysql else SAME
        expected = database.tables[place]
        rows = with_text_times(lake.spark.table(f"public.{table.model_name}")).collect()
        assert len(rows) == len(expected), table.model_name
        for row in rows:
            found = row.asDict()
            unrepresentable = {
                entry.column: entry.raw_text for entry in row._change.unrepresentable
            }
            (truth,) = (one for one in expected if is_row(one, found, column_types, keys, same))
            for column, column_type in column_types.items():
                text, value = truth[column], found.get(column)
                outcome = "equal"
                if column in unrepresentable:
                    assert value is None
                    assert unrepresentable[column]
                    outcome = "unrepresentable"
                elif column not in found:
                    outcome = "not sent"
                elif text is None or value is None:
                    outcome = "equal" if text is value else "lost before it was sent"
                elif not is_same(column_type, text, value, same):
                    outcome = "lost before it was sent"
                is_nan = text == "NaN" and table.facts.source == "types"
                is_lost = outcome.startswith("lost")
                if is_lost and (table.table, column) in LOST:
                    lost.add((table.table, column))
                elif is_lost and not is_nan:
                    differences.append(
                        f"{table.model_name}.{column} {column_type}: {text} {value!r}"
                    )
                counts["MySQL " * is_mysql + bare(column_type), outcome] += 1
    show(counts)
    assert "\n".join(differences) == ""
    assert lost == LOST.keys()


def test_values_that_spark_cannot_hold_are_counted(lake: Lake) -> None:
    names = [table.model_name for table in lake.tables]
    counts = unrepresentable_counts(
        published_rows(SparkReader(lake.spark), [*names, "not_published"], "public")
    )
    shown: Counter[tuple[str, str]] = Counter()
    for name in names:
        for row in lake.spark.table(f"public.{name}").select("_change").collect():
            shown[row._change.source, name] += len(row._change.unrepresentable)
    assert +shown == {(s, name): n for s, found in counts.items() for name, n in found.items()}
    assert counts["types"]


def test_status_counts_them_with_duckdb_as_with_spark(lake: Lake) -> None:
    assert any(entry["unrepresentable"] for entry in agreed_status(lake.project))


def test_columns_whose_nulls_may_have_become_defaults_are_named(lake: Lake) -> None:
    (sentence,) = null_default_sentences(lake.spark)
    assert "types.public.defs.i, " in sentence, sentence
    assert "value.converter.replace.null.with.default=false" in sentence


def test_an_object_where_the_model_has_a_number_is_null_and_named(lake: Lake) -> None:
    """It stops nobody: whoever can send one message would stop all tables of all sources."""
    (model,) = (lake.project / "models").rglob("num_history.sql")
    text = model.read_text()
    variable = "'nfree': 'string from io.debezium.data.VariableScaleDecimal'"
    assert variable in text
    model.write_text(text.replace(variable, "'nfree': 'int'"))
    # Two have more digits than a decimal can hold.
    sent = lake.rows(
        "select count(*) from build.num_history where nfree is not null"
        " or array_contains(_change.unrepresentable.column, 'nfree')"
    )
    # A model that has changed is built from all changes, which have been built.
    assert lake.build("--select", "num_history", command="run"), lake.lines
    named = lake.rows(
        "select nfree, raw_text from build.num_history"
        " lateral view inline(_change.unrepresentable) as name, raw_text where name = 'nfree'"
    )
    assert [(len(named),)] == sent
    assert all(value is None and '"scale":' in str(text) for value, text in named)


def is_row(
    truth: dict[str, Any],
    found: dict[str, Any],
    column_types: dict[str, str],
    keys: Sequence[str],
    same: Same,
) -> bool:
    names = [name for name in keys if name in truth]
    return all(is_same(column_types[name], truth[name], found[name], same) for name in names)


def show(counts: Counter[tuple[str, str]]) -> None:
    outcomes = ("equal", "unrepresentable", "not sent", "lost before it was sent")
    print(f"\n{'type':30}" + "".join(f"{outcome:>25}" for outcome in outcomes))
    for column_type in sorted({name for name, _ in counts}):
        numbers = (counts[column_type, outcome] for outcome in outcomes)
        print(f"{column_type:30}" + "".join(f"{one:>25}" for one in numbers))
    print(f"{'all':30}" + "".join(
        f"{sum(n for (_, one), n in counts.items() if one == outcome):>25}" for outcome in outcomes
    ))  # fmt: skip
