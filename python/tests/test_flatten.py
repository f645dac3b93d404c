"""The Arrow face: the parser's rows as columns, in order, in one batch or in many."""

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql.pandas.types import to_arrow_type
from real_messages import DOCUMENTS, MESSAGES, flat

from dbt_debezium.evidence.narrow import COLUMNS
from dbt_debezium.functions.flatten import ARROW_FIELDS, FLAT_TYPE, flatten_batch
from dbt_debezium.messages.flat import Flat

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))


def batch(messages):
    """The messages as Spark hands them over."""
    headers = [
        [{"key": name, "value": text} for name, text in message["headers"]] for message in messages
    ]
    return [
        *(pa.array([m[name] for m in messages], pa.string()) for name in ("topic", "key", "value")),
        pa.array(headers, HEADERS),
        settings(len(messages)),
    ]


def settings(count, text="{}"):
    """A project's settings as a literal of SQL arrives: once for each message."""
    return pa.array([text] * count, pa.string())


def flats(array):
    """The columns as the parser's rows again."""
    return [
        Flat(**{name: row[name] for name in Flat._fields})._replace(
            collection_counts=None
            if row["collection_counts"] is None
            else dict(row["collection_counts"])
        )
        for row in array.to_pylist()
    ]


def test_the_columns_are_the_fields_of_the_parser():
    count = len(Flat._fields)
    assert FLAT_TYPE.names[:count] == [*Flat._fields]
    of_evidence = {*FLAT_TYPE.names[count:]} - {"has_repeated_names"}
    assert of_evidence <= {*COLUMNS.names}
    assert {*COLUMNS.names} - {*FLAT_TYPE.names} == {
        *("topic", "partition", "offset", "landed_at_micros", "leaves_key", "enters_key"),
    }
    assert [column.name for column in FLAT_TYPE if not column.nullable] == [
        *("kind", "has_repeated_names", "asks_blocking"),
    ]


def test_spark_reads_the_types_that_arrow_writes():
    for column, field in zip(FLAT_TYPE, ARROW_FIELDS, strict=True):
        assert to_arrow_type(column.dataType) == field.type


def test_a_batch_is_its_messages_in_their_order():
    assert flats(flatten_batch(*batch(MESSAGES.values()))) == [flat(name) for name in MESSAGES]


@pytest.mark.parametrize("start", [0, 3, 21])
def test_a_slice_of_a_batch_has_the_headers_of_its_own_messages(start):
    sliced = [column[start:] for column in batch(MESSAGES.values())]
    assert flats(flatten_batch(*sliced)) == [flat(name) for name in list(MESSAGES)[start:]]


def test_an_empty_batch_has_no_rows():
    empty = flatten_batch(*batch([]))
    assert len(empty) == 0
    assert empty.type == pa.struct(ARROW_FIELDS)


@pytest.mark.parametrize("headers", [pa.array([None], HEADERS), pa.nulls(1)])
def test_nulls_in_every_argument_make_a_tombstone(headers):
    arguments = [pa.array([None], pa.string())] * 3
    assert flats(flatten_batch(*arguments, headers, settings(1))) == [Flat("tombstone")]


def test_headers_that_are_null_are_passed_over():
    message = MESSAGES["create"]
    headers = [[None, {"key": None, "value": "x"}, {"key": "__debezium.oldkey", "value": None}]]
    row = flatten_batch(*batch([message])[:3], pa.array(headers, HEADERS), settings(1))
    assert flats(row) == [flat("create")]


@pytest.mark.fault(64)
def test_bytes_that_are_not_utf_8_quarantine_their_message_only():
    good = MESSAGES["create"]["value"].encode()
    broken = good.replace(b"user 1", b"user \xff")
    values = pa.array([broken, good], pa.binary()).view(pa.string())
    topic, key, _, *others = batch([MESSAGES["create"]] * 2)
    bad, whole = flats(flatten_batch(topic, key, values, *others))
    assert (bad.quarantine_reason, bad.quarantine_detail) == ("bad_json", "value: not UTF-8 text")
    assert whole == flat("create")


@pytest.mark.fault(52)
def test_an_integer_beyond_64_bits_does_not_reach_arrow():
    value = MESSAGES["create"]["value"].replace(
        '"total_order":1', '"total_order":9223372036854775808'
    )
    (row,) = flats(flatten_batch(*batch([MESSAGES["create"] | {"value": value}])))
    assert row.quarantine_reason == "bad_type"


def test_a_batch_has_the_settings_of_its_project():
    message = {"topic": "bank_a", "key": None, "value": DOCUMENTS["003_01"], "headers": []}
    named = settings(2, '{"cdl_sources": {"bank_*": "bank"}}')
    rows = flats(flatten_batch(*batch([message] * 2)[:4], named))
    assert [row.source for row in rows] == ["bank", "bank"]


def test_the_function_travels_by_name():
    assert len(cloudpickle.dumps(flatten_batch)) < 200
