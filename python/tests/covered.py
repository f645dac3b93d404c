"""Which rows of a list of requirements have a test, and how it ended."""

import csv
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


def read_rows(path: Path) -> dict[str, str]:
    """Each row's id, and in one line what it asks."""
    with path.open(encoding="utf-8") as lines:
        return dict(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


class Coverage:
    """Notes what each test with a marker covers and how it ended.

    Args:
        marker: what a test carries with the ids of its rows.
        sentences: by what is said of them instead of "passed", rows and why.
    """

    def __init__(self, marker: str, sentences: Mapping[str, Mapping[str, str]]) -> None:
        self.marker = marker
        self.sentences = sentences
        self.tests: dict[str, set[str]] = defaultdict(set)
        self.failed: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            name = item.nodeid.partition("[")[0]
            for mark in item.iter_markers(self.marker):
                for row in mark.args:
                    self.tests[str(row)].add(name)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or (report.skipped and report.when == "setup"):
            self.failed.add(report.nodeid.partition("[")[0])

    def run(self, paths: Sequence[str], *options: str) -> None:
        """Run the tests below the paths that carry the marker, or with options collect them."""
        pytest.main(
            ["-q", "-m", f"{self.marker} and not proof", "--no-header", *options, *paths],
            plugins=[self],
        )

    def sentence(self, row: str) -> str | None:
        """Why no test alone can say that the row is proved."""
        return next((why[row] for why in self.sentences.values() if row in why), None)

    def result(self, row: str) -> str:
        tests = self.tests.get(row, set())
        if tests & self.failed:
            return "FAILED"
        said = next((state for state, why in self.sentences.items() if row in why), None)
        return said or ("passed" if tests else "NO TEST")

    def print_rows(self, rows: Mapping[str, str], good: Collection[str]) -> int:
        """One line for each row, and the sums. Returns 1 when a result is not a good one."""
        for row, asked in rows.items():
            named = ", ".join(sorted(name.partition("::")[2] for name in self.tests.get(row, ())))
            sentence = self.sentence(row)
            said = f" ({sentence})" if sentence else ""
            print(f"{row}\t{self.result(row)}{said}\t{named or '-'}\t{asked}")
        results = [self.result(row) for row in rows]
        print(", ".join(f"{results.count(one)} {one}" for one in sorted(set(results))))
        return int(not set(results) <= set(good))
