"""Values of each type, encoded as Debezium encodes them, decode to what they were."""

import base64
import hashlib
import json
import math
import re
import struct
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from oracle import PLACEHOLDER
from pyspark.sql import SparkSession
from rendered import rendered

from dbt_debezium.spark.targets import spark_settings

EPOCH = datetime(1970, 1, 1)
YEAR_1, YEAR_10000 = -62135596800, 253402300800
"""In seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Case:
    """One type, and how values of it are sent and shown."""

    column_type: str
    values: st.SearchStrategy[Any]
    sent: Callable[[Any], Any]
    """What stands in the JSON image, for `dumped`."""
    shown: Callable[[Any], Any]
    """What a reader finds; None where no Spark type holds the value."""
    query: str = "cast({} as string)"
    """The expression on the decoded value that a reader uses."""
    read: Callable[[Any], Any] = lambda found: found
    """What the reader makes of that."""


class Json(str):
    """A piece of JSON as it is to be sent."""


@dataclass(slots=True)
class Probe:
    """Decodes one-column images in Spark."""

    spark: SparkSession

    def decode(self, case: Case, images: Sequence[str]) -> list[tuple[Any, str | None]]:
        """Of each image what a reader finds, and the raw text that a history would name."""
        frame = self.spark.createDataFrame(list(enumerate(images)), "n int, after string")
        image = rendered("image_of", "after", {"v": case.column_type})
        decoded = rendered("decoded", "image.`v`", case.column_type)
        raw_text = rendered("raw_text", "cast(image.v as string)")
        rows = (
            frame.selectExpr("n", f"{image} as image")
            .selectExpr("n", f"{decoded} as decoded", f"{raw_text} as raw_text")
            .selectExpr(
                "n",
                f"{case.query.format('decoded')} as shown",
                "case when decoded is null then raw_text end as raw_text",
            )
            .collect()
        )
        return [(row.shown, row.raw_text) for row in sorted(rows, key=lambda row: row.n)]


@pytest.fixture(scope="module")
def probe() -> Iterator[Probe]:
    # Java outlives the session, and the next test of this process finds its catalog there.
    java = {name: text for name, text in spark_settings("local").items() if ".driver." in name}
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = (
        builder.config(map=java)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", "false")
        .getOrCreate()
    )
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield Probe(spark)
    spark.stop()


def integer_bytes(value: int) -> str:
    """Java's BigInteger.toByteArray, as Kafka Connect's JSON has bytes."""
    length = (value if value >= 0 else ~value).bit_length() // 8 + 1
    return base64.b64encode(value.to_bytes(length, "big", signed=True)).decode()


def unscaled(value: Decimal, scale: int) -> int:
    with localcontext() as context:
        context.prec = 400
        return int(value.scaleb(scale))


def fitting(value: Decimal, precision: int, scale: int) -> str | None:
    """A decimal's text in a type; None where a digit has no place."""
    with localcontext() as context:
        context.prec = 800
        if not value.is_finite() or value != round(value, scale):
            return None
        if abs(value) >= Decimal(10) ** (precision - scale):
            return None
        text = format(round(value, scale), "f")
    return text.removeprefix("-") if value == 0 else text


def decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    limit = 10**digits - 1
    exponents = st.integers(0, digits).map(lambda n: 10**n)
    near = st.tuples(exponents, st.integers(-2, 2), st.sampled_from([1, -1])).map(
        lambda t: (t[0] + t[1]) * t[2]
    )
    integers = st.integers(-limit, limit) | near.filter(lambda n: abs(n) <= limit)

    def scaled(number: int) -> Decimal:
        with localcontext() as context:
            context.prec = 400
            return Decimal(number).scaleb(-scale)

    return integers.map(scaled)


def day_text(days: int) -> str | None:
    if not YEAR_1 <= days * 86400 < YEAR_10000:
        return None
    return (date(1970, 1, 1) + timedelta(days)).isoformat()


def instant_text(micros: int) -> str | None:
    if not YEAR_1 * 10**6 <= micros < YEAR_10000 * 10**6:
        return None
    moment = EPOCH + timedelta(microseconds=micros)
    text = f"{moment.year:04d}{moment.strftime('-%m-%d %H:%M:%S')}"
    return text + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "")


def iso_text(micros: int) -> str:
    """java.time's ISO form: as many digits as there are, in threes."""
    moment = EPOCH + timedelta(microseconds=micros)
    text = f"{moment.year:04d}{moment.strftime('-%m-%dT%H:%M:%S')}"
    if moment.microsecond % 1000:
        return f"{text}.{moment.microsecond:06d}"
    return f"{text}.{moment.microsecond // 1000:03d}" if moment.microsecond else text


def clock_text(count: int, per_second: int) -> str:
    seconds, rest = divmod(abs(count), per_second)
    nanos = rest * (10**9 // per_second)
    fraction = f"{nanos // 1000:06d}" if nanos % 1000 == 0 else f"{nanos:09d}"
    sign = "-" if count < 0 else ""
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction}"


def double_sent(value: float) -> Any:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return Json(repr(value))


def float_sent(value: float) -> Any:
    if not math.isfinite(value):
        return double_sent(value)
    text = f"{value:.9g}"
    return Json(text if {"e", "."} & set(text) else f"{text}.0")


def double_bits(value: float | None) -> Any:
    """So that -0.0 is not 0.0, and NaN is NaN."""
    if value is None:
        return None
    return "NaN" if math.isnan(value) else struct.pack(">d", value)


def unicode_shown(value: str) -> str | None:
    """A text as UTF-16 has it; None with a lone surrogate, or the mark of our own."""
    try:
        text = value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None
    return None if "\ufdd0" in text else text


def hex_of(value: bytes) -> str:
    return value.hex().upper()


def bits_sent(value: str) -> str:
    number = int(value, 2) if value else 0
    length = (number.bit_length() + 7) // 8
    return base64.b64encode(number.to_bytes(length, "little")).decode()


def json_document() -> st.SearchStrategy[Any]:
    numbers = decimals(60, 20).map(lambda d: Json(format(d, "f")))
    odd = st.sampled_from([Json("1e400"), Json("-1E-400"), Json("1.10"), Json("1E+2")])
    leaves = st.none() | st.booleans() | st.integers() | numbers | odd | any_text()
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(real_text(), inner, max_size=4),
        max_leaves=8,
    ).filter(lambda value: value is not None)


def any_text() -> st.SearchStrategy[str]:
    some = st.sampled_from(
        ['\\', '"', "\\u", "\\ud800", "\ud83d", "\ude00", "\0", "\n", "😀", "\ufdd0", "1.5", "e400"]
    )  # fmt: skip
    characters = st.characters(exclude_categories=())
    return st.lists(some | characters, max_size=12).map("".join)


def dumped(value: Any) -> str:
    """JSON with `Json` pieces as they are; ASCII, so that any surrogate can be sent."""
    if isinstance(value, Json):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(dumped, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(k)} : {dumped(v)}' for k, v in value.items())}}}"
    return json.dumps(value)


def parsed(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def is_as_sent(raw_text: str, value: Any) -> bool:
    """JSON may have lost blanks; what UTF-8 cannot hold is an escape in a text."""
    if not isinstance(value, str) or isinstance(value, Json):
        return bool(parsed(raw_text) == parsed(dumped(value)))
    text = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return raw_text == re.sub("[\ud800-\udfff\ufdd0]", lambda c: f"\\u{ord(c[0]):04x}", text)


def optional_lists(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | items, max_size=5)


def listed(shown: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any] | None]:
    """An array is lost with one of its items."""

    def show(values: list[Any]) -> list[Any] | None:
        items = [None if value is None else shown(value) for value in values]
        is_lost = any(
            item is None and value is not None for item, value in zip(items, values, strict=True)
        )
        return None if is_lost else items

    return show


def sent_list(sent: Callable[[Any], Any]) -> Callable[[list[Any]], Any]:
    return lambda values: [None if value is None else sent(value) for value in values]


def map_shown(value: dict[str, str | None]) -> dict[str, str | None] | None:
    shown = {key: text and unicode_shown(text) for key, text in value.items()}
    return None if any(shown[key] is None and text for key, text in value.items()) else shown


def real_text() -> st.SearchStrategy[str]:
    """Texts that JSON and Spark have in one form."""
    return st.text(st.characters(codec="utf-8", exclude_characters="\ufdd0"), max_size=12)


LIST = "transform({}, item -> cast(item as string))"
micros = st.integers(YEAR_1 * 10**6, YEAR_10000 * 10**6 - 1)
far_micros = micros | st.integers(-(2**63), 2**63 - 1)

CASES = {
    "smallint": Case("smallint", st.integers(-(2**15), 2**15 - 1), int, str),
    "int": Case("int", st.integers(-(2**31), 2**31 - 1), int, str),
    "bigint": Case("bigint", st.integers(-(2**63), 2**63 - 1), int, str),
    "bigint that does not fit": Case(
        "bigint", st.integers(2**63, 2**70) | st.integers(-(2**70), -(2**63) - 1), int,
        lambda _: None,
    ),
    "unsigned bigint": Case(
        "decimal(20,0) from unsigned bigint", st.integers(0, 2**64 - 1),
        lambda n: n - 2**64 if n >= 2**63 else n, str,
    ),
    "boolean": Case("boolean", st.booleans(), bool, lambda b: str(b).lower()),
    "decimal as text": Case(
        "decimal(38,10)", decimals(42, 10) | st.just(Decimal("NaN")),
        lambda d: format(d, "f").replace("NaN", "NAN"), lambda d: fitting(d, 38, 10),
    ),
    "decimal as text of more digits": Case(
        "decimal(12,2)", decimals(14, 4), lambda d: format(d, "f"), lambda d: fitting(d, 12, 2)
    ),
    "decimal as number": Case(
        "decimal(38,10)", decimals(42, 10), lambda d: Json(format(d, "f")),
        lambda d: fitting(d, 38, 10),
    ),
    "decimal as number of a double's digits": Case(
        "decimal(38,10)", decimals(18, 3), lambda d: Json(format(d, "f")),
        lambda d: fitting(d, 38, 10),
    ),
    "decimal in bytes": Case(
        "decimal(38,10) from org.apache.kafka.connect.data.Decimal(10)", decimals(42, 10),
        lambda d: integer_bytes(unscaled(d, 10)), lambda d: fitting(d, 38, 10),
    ),
    "decimal in bytes of a smaller scale": Case(
        "decimal(38,10) from org.apache.kafka.connect.data.Decimal(4)", decimals(30, 4),
        lambda d: integer_bytes(unscaled(d, 4)), lambda d: fitting(d, 38, 10),
    ),
    "decimal in bytes of a larger scale": Case(
        "decimal(20,2) from org.apache.kafka.connect.data.Decimal(4)", decimals(24, 4),
        lambda d: integer_bytes(unscaled(d, 4)), lambda d: fitting(d, 20, 2),
    ),
    "decimal in bytes as text": Case(
        "string from org.apache.kafka.connect.data.Decimal(40)", decimals(38, 40),
        lambda d: integer_bytes(unscaled(d, 40)), lambda d: format(d, "f"),
    ),
    "variable scale as text": Case(
        "string from io.debezium.data.VariableScaleDecimal",
        st.integers(0, 37).flatmap(lambda scale: decimals(38, scale)),
        lambda d: {"scale": -d.as_tuple().exponent, "value": integer_bytes(
            unscaled(d, -d.as_tuple().exponent))},
        lambda d: format(d, "f"),
    ),
    "variable scale": Case(
        "decimal(38,10) from io.debezium.data.VariableScaleDecimal",
        st.integers(-5, 20).flatmap(lambda scale: decimals(40, scale)),
        lambda d: {"scale": -d.as_tuple().exponent, "value": integer_bytes(
            unscaled(d, -d.as_tuple().exponent))},
        lambda d: fitting(d, 38, 10) if abs(unscaled(d, -d.as_tuple().exponent)) < 10**38 else None,
    ),
    "double": Case("double", st.floats(), double_sent, double_bits, "{}", double_bits),
    "double out of range": Case(
        "double", st.sampled_from(["1e400", "-1e309", "1e-400", "9007199254740993",
                                   "0.1234567890123456789", "123456789012345678.5"]),
        Json, lambda _: None,
    ),
    "double from other text": Case(
        "double", st.sampled_from(["1d", "inf", "0x1p3", "", " ", "1_0"]), str, lambda _: None,
    ),
    "float": Case(
        "float", st.floats(width=32), float_sent, double_bits, "{}", double_bits
    ),
    "text": Case("string", any_text(), str, unicode_shown),
    "text in UTF-8": Case(
        "string", any_text().filter(lambda t: unicode_shown(t) is not None),
        lambda t: Json(json.dumps(unicode_shown(t), ensure_ascii=False)), unicode_shown,
    ),
    "date": Case(
        "date from io.debezium.time.Date",
        st.integers(-719162, 2932896) | st.integers(-(2**31), 2**31 - 1), int, day_text,
    ),
    "date as ISO text": Case(
        "date from io.debezium.time.IsoDate", st.integers(-719162, 2932896),
        lambda days: f"{day_text(days)}Z", day_text,
    ),
    "date as other text": Case(
        "date", st.sampled_from(["now", "epoch", "2024-02-30", "2024", "0000-01-01",
                                 "+10000-01-01", "-0043-03-15", "2024-01-01T00:00:00"]),
        str, lambda _: None,
    ),
    "timestamp in ms": Case(
        "timestamp_ntz from io.debezium.time.Timestamp", far_micros,
        lambda n: n // 1000, lambda n: instant_text(n // 1000 * 1000),
    ),
    "timestamp in µs": Case(
        "timestamp_ntz from io.debezium.time.MicroTimestamp", far_micros, int, instant_text
    ),
    "timestamp in ns": Case(
        "timestamp_ntz from io.debezium.time.NanoTimestamp",
        st.integers(-(2**63) // 1000 + 1, 2**63 // 1000 - 1).map(lambda n: n * 1000)
        | st.integers(-(2**63), 2**63 - 1),
        int, lambda n: None if n % 1000 else instant_text(n // 1000),
    ),
    "timestamp as ISO text": Case(
        "timestamp_ntz from io.debezium.time.IsoTimestamp", micros,
        lambda n: f"{iso_text(n)}Z", instant_text,
    ),
    "timestamp with zone": Case("timestamp", micros, lambda n: f"{iso_text(n)}Z", instant_text),
    "timestamp with offset": Case(
        "timestamp", st.integers((YEAR_1 + 86400) * 10**6, (YEAR_10000 - 86400) * 10**6),
        lambda n: f"{iso_text(n)}+05:45", lambda n: instant_text(n - (5 * 60 + 45) * 60 * 10**6),
    ),
    "timestamp as other text": Case(
        "timestamp", st.sampled_from([
            "infinity", "now", "12:00:00", "2024-01-01", "+10000-01-01T00:00:00Z",
            "2024-01-01T00:00:00.1234567Z", "-0043-03-15T12:00:00Z", "0001-01-01T00:00:00+14:00",
        ]), str, lambda _: None,
    ),
    "time in ms": Case(
        "string from io.debezium.time.Time", st.integers(0, 86400 * 1000), int,
        lambda n: clock_text(n, 1000),
    ),
    "time in µs": Case(
        "string from io.debezium.time.MicroTime",
        st.integers(-839 * 3600 * 10**6, 839 * 3600 * 10**6), int,
        lambda n: clock_text(n, 10**6),
    ),
    "time in ns": Case(
        "string from io.debezium.time.NanoTime",
        st.integers(0, 86400 * 10**9) | st.integers(0, 86400 * 10**6).map(lambda n: n * 1000),
        int, lambda n: clock_text(n, 10**9),
    ),
    "time as ISO text": Case(
        "string from io.debezium.time.IsoTime", st.integers(0, 86400 * 10**6 - 1),
        lambda n: f"{iso_text(n)[11:]}Z", lambda n: clock_text(n, 10**6),
    ),
    "bits": Case(
        "string from io.debezium.data.Bits(70)",
        st.integers(0, 2**70 - 1).map(lambda n: f"{n:070b}"), bits_sent, str,
    ),
    "bits of any length": Case(
        "string from io.debezium.data.Bits",
        st.integers(0, 2**80).map(lambda n: f"0{n:b}"), bits_sent,
        lambda text: text.lstrip("0"),
    ),
    "bytes": Case(
        "binary from base64", st.binary(max_size=40),
        lambda b: base64.b64encode(b).decode(), hex_of, "hex({})",
    ),
    "bytes in URL-safe base64": Case(
        "binary from base64-url-safe", st.binary(max_size=40),
        lambda b: base64.urlsafe_b64encode(b).decode(), hex_of, "hex({})",
    ),
    "bytes in hex": Case("binary from hex", st.binary(max_size=40), bytes.hex, hex_of, "hex({})"),
    "array of int": Case(
        "array<int> from array", optional_lists(st.integers(-(2**31), 2**31)), list,
        listed(lambda n: str(n) if n < 2**31 else None), LIST,
    ),
    "array of text": Case(
        "array<string> from array", optional_lists(any_text()), list, listed(unicode_shown),
        LIST,
    ),
    "array of decimal": Case(
        "array<decimal(38,2)> from array<org.apache.kafka.connect.data.Decimal(2)>",
        optional_lists(decimals(39, 2)), sent_list(lambda d: integer_bytes(unscaled(d, 2))),
        listed(lambda d: fitting(d, 38, 2)), LIST,
    ),
    "array of timestamp": Case(
        "array<timestamp_ntz> from array<io.debezium.time.MicroTimestamp>",
        optional_lists(far_micros), list, listed(instant_text), LIST,
    ),
    "vector": Case(
        "array<double> from array",
        st.lists(st.floats(allow_nan=False), max_size=5), sent_list(double_sent), list, "{}",
    ),
    "map": Case(
        "map<string,string> from map", st.dictionaries(real_text(), st.none() | any_text()),
        dict, map_shown, "{}",
    ),
    "point": Case(
        "struct<x:double,y:double,wkb:binary,srid:int> from io.debezium.data.geometry.Point",
        st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False), st.binary(max_size=30)),
        lambda p: {"x": double_sent(p[0]), "y": double_sent(p[1]),
                   "wkb": base64.b64encode(p[2]).decode(), "srid": None},
        lambda p: (double_bits(p[0]), double_bits(p[1]), p[2], None), "{}",
        lambda p: p and (double_bits(p.x), double_bits(p.y), bytes(p.wkb), p.srid),
    ),
    "geometry": Case(
        "struct<wkb:binary,srid:int> from io.debezium.data.geometry.Geometry",
        st.tuples(st.binary(max_size=30), st.none() | st.integers(0, 10000)),
        lambda g: {"wkb": base64.b64encode(g[0]).decode(), "srid": g[1]},
        lambda g: g, "{}", lambda g: g and (bytes(g.wkb), g.srid),
    ),
    "sparse vector": Case(
        "struct<dimensions:int,vector:map<int,double>> from io.debezium.data.SparseVector",
        st.tuples(st.integers(1, 100), st.dictionaries(
            st.integers(0, 100), st.floats(allow_nan=False), max_size=5)),
        lambda v: {"dimensions": v[0],
                   "vector": [[key, double_sent(item)] for key, item in v[1].items()]},
        lambda v: v, "{}", lambda v: v and (v.dimensions, v.vector),
    ),
    "json": Case("string from json", json_document(), lambda v: v, lambda v: parsed(dumped(v)),
                 "{}", parsed),
}  # fmt: skip

FAULTS = {
    "bigint that does not fit": [52],
    "boolean": [52],
    "map": [53],
    "json": [53],
    "decimal as number": [54],
    "decimal as text": [55, 56],
    "decimal in bytes": [55],
    "double": [56],
    "double out of range": [57],
    "date": [58],
    "date as other text": [58],
    "timestamp in µs": [59, 61],
    "timestamp as other text": [59],
    "timestamp with zone": [61],
    "timestamp with offset": [61],
    "time in µs": [60],
    "text": [62, 63],
}
"""Cases that hold the values of a fault."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.fault(*FAULTS[name])] if name in FAULTS else [])
        for name in CASES
    ],
)
def test_a_value_decodes_to_what_it_was_or_is_named(name: str, probe: Probe) -> None:
    case = CASES[name]

    @settings(
        max_examples=2,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(case.values, min_size=60, max_size=120))
    def check(values: list[Any]) -> None:
        images = [f'{{"other":"x\\n1.5","v":{dumped(case.sent(value))}}}' for value in values]
        for value, image, (found, raw_text) in zip(
            values, images, probe.decode(case, images), strict=True
        ):
            expected = case.shown(value)
            if found is not None and case.column_type.startswith("decimal"):
                found = format(Decimal(found), "f")  # Spark writes 0E-10
            assert (None if found is None else case.read(found)) == expected, image
            if expected is None:
                assert raw_text is not None
                assert is_as_sent(raw_text, case.sent(value)), image

    check()


def placed_at(x: float, y: float) -> dict[str, object]:
    """A point in EWKB with SRID 4326, little-endian."""
    place = struct.pack("<bIIdd", 1, 0x20000001, 4326, x, y)
    return {"wkb": base64.b64encode(place).decode(), "srid": 4326}


def unavailable(placeholder: bytes) -> dict[str, object]:
    """What PostgreSQL's connector sends for a value that it was not sent itself, by type.

    Its class UnchangedToastedPlaceholder makes them.
    """
    text, in_base64 = placeholder.decode(), base64.b64encode(placeholder).decode()
    return {
        "text": text,
        "bytea": in_base64,
        "bytea in hex": placeholder.hex(),
        "text[]": [text],
        "bytea[]": [in_base64],
        "integer[]": list(placeholder),
        "double precision[]": [float(code) for code in placeholder],
        "numeric[]": [str(code) for code in placeholder],
        "uuid[]": [str(uuid.UUID(bytes=hashlib.md5(placeholder).digest(), version=3))],
        "hstore": {text: text},
        "geometry": placed_at(-99999999, -99999999),
        "geography": placed_at(179.999999, 89.999999),
    }


@pytest.mark.fault(71)
@pytest.mark.parametrize("placeholder", [PLACEHOLDER, "n/a:[%'~]"])
def test_a_value_that_was_not_sent_is_known_in_each_type(probe: Probe, placeholder: str) -> None:
    names = rendered("unavailable_columns", "after", placeholder)
    values = unavailable(placeholder.encode())
    # Two that are data.
    values |= {"longer": f"{placeholder}.", "with a blank more": f" {placeholder}"}
    images = [
        (name, json.dumps({"id": 1, "v": value}, separators=(",", ":"), ensure_ascii=False))
        for name, value in values.items()
    ]
    frame = probe.spark.createDataFrame(images, "name string, after string")
    found = frame.selectExpr("name", f"{names} as names").collect()
    assert {row["name"]: row["names"] for row in found} == {
        name: [] if name in ("longer", "with a blank more") else ["v"] for name in values
    }


HOSTILE_TEXTS = (
    *("1e-1000000000", "1E-2147483647", "0e-2147483648", "1e2147483647", "1e99999999999"),
    *("1e-\u0661\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660", "1.5e--2147483648"),
    *("9" * 30_000, "0." + "0" * 30_000, "-" * 30_000, "[" * 30_000, '{"a":' * 30_000),
    *("NaN", "-Infinity", "inf", "1d", "0x10", "1_0", "-0", "--1", "+999999999999-01-01"),
    *("999999999-01-01T00:00:00Z", "-290308-12-21T19:59:05.224192Z", "1" * 20, "\0", "\ufdd0" * 3),
    *("25:61:61", "P9999999999Y", "2024-02-30", "1970-01-01T00:00:00+99:99"),
    *("////", "A", "gICA", "7fffffffffffffff", "f" * 31),
)
"""Texts at which something in Spark, or in Java below it, has raised an error or could."""
HOSTILE_VALUES: tuple[Any, ...] = (
    *HOSTILE_TEXTS,
    *(Json("1e-1000000000"), Json("1e1000000000"), Json("1" * 999), Json("-0.0e-999999999")),
    *(2**63, -(2**63) - 1, 2**31, True, [], {}, [[None]], {"a": {"b": []}}),
    *({"scale": scale, "value": "AQ=="} for scale in (2**31 - 1, -(2**31), 2**40, "1e9", None)),
    *({"wkb": text, "srid": 2**40, "x": text, "y": {}} for text in HOSTILE_TEXTS[:3]),
    {"dimensions": 2**40, "vector": [["1", "2"], ["1", "3"], [], None, ["1e9", "1e999999999"]]},
    [HOSTILE_TEXTS[0], Json("1e-1000000000"), 2**70, None, {"a": 1}],
)


@pytest.mark.fault(65)
@pytest.mark.parametrize("name", sorted(CASES))
def test_no_value_ends_a_run(name: str, probe: Probe) -> None:
    case = CASES[name]
    images = [f'{{"other":1,"v":{dumped(value)}}}' for value in HOSTILE_VALUES]
    found = probe.decode(case, images)
    assert len(found) == len(images)
    # What does not decode is named by its text, so that nothing is lost without a word.
    assert all(shown is not None or raw_text is not None for shown, raw_text in found)
