"""The log that tests of the cluster land, in two files."""

import pytest
from arrivals import Arrival, pieces
from lake import capture, tables_of
from oracle import read_messages

from dbt_debezium.scaffold.captured import CapturedTable

MODELLED = {"a", "b", "nopk"}
"""Two that are truncated together, and one without a key."""


@pytest.fixture(scope="session")
def parts() -> list[Arrival]:
    return pieces(read_messages(capture("truncate")), 2)


@pytest.fixture(scope="session")
def tables(parts: list[Arrival]) -> list[CapturedTable]:
    return tables_of([message for part in parts for message in part.messages], only=MODELLED)
