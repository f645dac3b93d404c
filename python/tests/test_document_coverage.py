"""Every row of what the documents ask has a test, or says what is not built."""

import subprocess
import sys
from pathlib import Path

import pytest
from covered import Coverage
from document_coverage import NOT_BUILT, ROWS, new_coverage

TESTS = Path(__file__).parent
PIPELINE = TESTS.parents[1] / "tests" / "pipeline"


@pytest.fixture(scope="module")
def coverage():
    collected = new_coverage()
    collected.run([str(TESTS), str(PIPELINE)], "--collect-only")
    return collected


def test_the_documents_ask_178_things():
    assert len(ROWS) == 178
    assert all(ROWS.values())


def test_every_row_has_a_test_or_a_reason(coverage):
    assert [row for row in ROWS if coverage.result(row) == "NO TEST"] == []


def test_no_test_covers_a_row_that_nobody_asks_for(coverage):
    assert coverage.tests.keys() | NOT_BUILT.keys() <= ROWS.keys()


def test_what_is_not_proved_is_said_and_fails(tmp_path):
    (tmp_path / "test_none.py").write_text("")
    told = subprocess.run(
        [sys.executable, TESTS / "document_coverage.py", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert "DB2-01\tNO TEST" in told.stdout
    assert "\nopen: DB2-01, DB2-02, " in told.stdout


def test_what_is_not_built_is_said_and_fails(capsys):
    partly = Coverage("covers", {"NOT BUILT": {"DB2-03": "nothing flags it"}})
    assert partly.print_rows({"DB2-03": "names"}, {"passed"}) == 1
    assert "DB2-03\tNOT BUILT (nothing flags it)" in capsys.readouterr().out
