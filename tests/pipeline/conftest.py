"""What all tests of the pipeline share."""

from collections.abc import Iterator

import pytest
from lake import open_lake

from dbt_debezium.build import environment
from dbt_debezium.cli.repeat import LONG_LIVED


@pytest.fixture(scope="session", autouse=True)
def long_lived_java(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Start the Java of this process, which serves some thirty runs.

    So many that optimized code pays: from the eighth on, a run takes a fifth less CPU. Runs in
    processes of their own have the options of profiles.yml, as a user's have.
    """
    with (
        environment(DBT_DEBEZIUM_JAVA_OPTIONS=LONG_LIVED),
        open_lake(tmp_path_factory.mktemp("java"), []),
    ):
        pass


@pytest.fixture(scope="module")
def values_as_they_were_sent() -> Iterator[None]:
    """For oracles that know values as messages have them, without announced types."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dbt_debezium.scaffold.tables.announced_type", lambda *_: None)
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ask what the first landing of the faults shows before the next one lands.

    A mistake in a model (test_mutants.py) that shows itself there costs one build, not three.
    """
    begins = {item.path: place for place, item in reversed(list(enumerate(items)))}
    items.sort(key=lambda item: (begins[item.path], "later" in getattr(item, "fixturenames", ())))
