"""What all tests of the pipeline share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def java(long_lived_java: None) -> None:
    """Spark of this process runs in it."""


@pytest.fixture(scope="module")
def values_as_they_were_sent() -> Iterator[None]:
    """For oracles that know values as messages have them, without announced types."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dbt_debezium.tables.announced_type", lambda *_: None)
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ask what the first landing of the faults shows before the next one lands.

    A mistake in a model (test_mutants.py) that shows itself there costs one build, not three.
    """
    begins = {item.path: place for place, item in reversed(list(enumerate(items)))}
    items.sort(key=lambda item: (begins[item.path], "later" in getattr(item, "fixturenames", ())))
