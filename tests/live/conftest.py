"""The Java of lakes that follow a database."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def java(long_lived_java: None) -> None:
    """Spark of this process runs in it."""
