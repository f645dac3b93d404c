"""The log that tests of the cluster land, in two files."""

import pytest
from arrivals import Arrival, pieces
from lake import capture, tables_of
from oracle import read_messages

from dbt_debezium.scaffold import CapturedTable

MODELLED = {"a", "b", "nopk"}
"""Two that are truncated together, and one without a key; each further one costs a run seconds."""


@pytest.fixture(scope="session")
def parts() -> list[Arrival]:
    return pieces(read_messages(capture("truncate")), 2)


@pytest.fixture(scope="session")
def tables(parts: list[Arrival]) -> list[CapturedTable]:
    captured = tables_of([message for part in parts for message in part.messages])
    return [one for one in captured if one.table in MODELLED]
