"""Every fault of the catalogue has a test, or a sentence that says what is missing."""

from pathlib import Path

import pytest
from covered import Coverage
from fault_coverage import CANNOT_BE_TESTED, OPEN, ROWS, new_coverage

TESTS = Path(__file__).parent
PIPELINE_TESTS = TESTS.parents[1] / "tests"


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    collected = new_coverage()
    collected.run([str(TESTS), str(PIPELINE_TESTS)], "--collect-only")
    return collected


def test_the_catalogue_has_82_faults() -> None:
    assert list(ROWS) == [str(number) for number in range(1, 83)]
    assert all(ROWS.values())


def test_every_fault_has_a_test_or_a_sentence(coverage: Coverage) -> None:
    assert [row for row in ROWS if coverage.result(row) == "NO TEST"] == []


def test_no_test_is_of_a_fault_that_the_catalogue_lacks(coverage: Coverage) -> None:
    assert coverage.tests.keys() | OPEN.keys() | CANNOT_BE_TESTED.keys() <= ROWS.keys()


def test_what_has_a_test_can_be_tested(coverage: Coverage) -> None:
    assert coverage.tests.keys() & CANNOT_BE_TESTED.keys() == set()


def test_a_fault_without_a_test_or_a_sentence_fails(capsys: pytest.CaptureFixture[str]) -> None:
    none = Coverage("fault", {"open": {"2": "it waits"}})
    assert none.print_rows({"1": "one", "2": "two"}, {"passed", "open"}) == 1
    assert (
        capsys.readouterr().out
        == "1\tNO TEST\t-\tone\n2\topen (it waits)\t-\ttwo\n1 NO TEST, 1 open\n"
    )
    assert none.print_rows({"2": "two"}, {"passed", "open"}) == 0
