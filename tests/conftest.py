"""What tests of all folders share."""

import os

import pytest
from lake import open_lake

from dbt_debezium.build import environment
from dbt_debezium.cli.run import LONG_LIVED


@pytest.fixture(scope="session")
def long_lived_java(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Start the Java of this process, which serves some thirty runs.

    So many that optimized code pays: from the eighth on, a run takes a fifth less CPU. Runs in
    processes of their own have the options of profiles.yml, as a user's have.

    Java starts once in a process, so this must come before the first test with Spark in any folder.
    """
    with (
        environment(DBT_DEBEZIUM_JAVA_OPTIONS=LONG_LIVED),
        open_lake(tmp_path_factory.mktemp("java"), []),
    ):
        pass


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say at once what failed, as a run that is ended from outside prints no summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid} ({report.when})\n{report.longreprtext}", flush=True)
