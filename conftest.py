"""What tests of all folders share."""

import os

import pytest

from dbt_debezium import progress


def pytest_configure() -> None:
    """No command says that it still works, which a busy machine would have some of them do."""
    progress.PAUSE = 3600.0


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say at once what failed, as a run that is ended from outside prints no summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid} ({report.when})\n{report.longreprtext}", flush=True)
