"""Columns that look encoded are named as a whole, with what ends it; nothing is decoded."""

import json
from base64 import b64encode
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_debezium.status.value_looks import LOOKS, encoded_sentences, look_of


def name_of(look):
    return look and look.name


@pytest.mark.parametrize(
    ("column", "values", "look"),
    [
        ("total", ["AxY=", "/zg="], "base64"),
        ("total", ["AxYB", "AA=="], "base64"),
        (
            "total",
            ['{"scale":2,"value":"AxY="}', '{"scale": 0, "value": "AA=="}'],
            "scaled_decimal",
        ),
        ("total", ['{"value":"AxY=","scale":2}'], "scaled_decimal"),
        ("due_on", ["20500", "-3000"], "days"),
        ("orderDate", ["20500"], "days"),
        ("birth", ["-9000"], "days"),
        ("at", ["1771200000000", "1771200000001"], "milliseconds"),
        ("at", ["1771200000000000"], "microseconds"),
        ("at", ["1771200000123456700"], "nanoseconds"),
        # One value of another kind, and the column is of another kind.
        ("total", ["AxY=", "twelve"], None),
        ("total", ["AxY=", "AxZ="], None),
        ("word", ["lamp", "sofa"], None),
        ("at", ["1771200000000000", "5"], None),
        ("on", ["20500", "a"], None),
        ("total", ['{"scale":2,"value":"AxY="}', '{"scale":2}'], None),
        # Numbers that are no times.
        ("quantity", ["20500", "20501"], None),
        ("day", ["1", "31"], None),
        ("year_from", ["2024", "2026"], None),
        ("snowflake", ["1771200000123456789"], None),
        ("order_id", ["1771200000000"], None),
        ("due_on", ["20500.5"], None),
        ("anything", [], None),
    ],
)
def test_a_column_looks_encoded_when_all_its_values_do(column, values, look):
    assert name_of(look_of(column, values)) == look


def test_a_number_in_a_key_is_no_time_and_base64_is_base64():
    assert look_of("at", ["1771200000000"], is_key=True) is None
    assert name_of(look_of("id", ["AxY="], is_key=True)) == "base64"


@given(st.lists(st.binary(min_size=1, max_size=17), min_size=1))
def test_bytes_as_base64_look_so_unless_no_value_is_padded(values):
    texts = [b64encode(value).decode() for value in values]
    is_padded = any(text.endswith("=") for text in texts)
    assert name_of(look_of("total", texts)) == ("base64" if is_padded else None)


@given(st.lists(st.dates(date(1975, 1, 1), date(2100, 1, 1)), min_size=1))
def test_days_look_so_in_a_column_named_for_a_day(days):
    numbers = [str((day - date(1970, 1, 1)) // timedelta(days=1)) for day in days]
    found = name_of(look_of("due_date", numbers))
    is_year = all(1800 <= int(number) < 2200 for number in numbers)
    assert found == (None if is_year else "days")


@given(st.text(), st.lists(st.text() | st.integers().map(str) | st.floats().map(json.dumps)))
def test_any_column_has_one_look_or_none(column, values):
    assert look_of(column, values) in [None, *LOOKS.values()]


def test_the_sentence_names_each_column_and_what_to_set():
    tables = {"public.bill": {"total": "base64", "on": "days"}}
    (said,) = encoded_sentences("shop", tables, "preview")
    assert said == (
        "shop: public.bill: on looks like days since 1970, total looks like base64 of a decimal or "
        "of bytes; no message says its type, so it is shown as sent: set "
        "value.converter.schemas.enable=true, or decimal.handling.mode=string and "
        "time.precision.mode=isostring, at the connector"
    )
    (said,) = encoded_sentences("shop", {"public.bill": {"on": "days"}}, "status")
    assert said.endswith("such as 'on': 'date from io.debezium.time.Date'")
