"""Which rows of what the reference documents ask have a test, and what it says.

`python document_coverage.py PATH...` runs the tests that carry `@pytest.mark.covers`, prints one
line for each row and one with those that are open, and ends with 1 when there are any: rows without
a test, with one that failed, or of which a part is not built.
"""

import sys

from covered import DATA, Coverage, read_rows

ROWS = read_rows(DATA / "documents" / "coverage.tsv")
"""Each row's id, and in one line what it asks."""

NOT_BUILT: dict[str, str] = {}
"""Rows of which a part is not built: what there is, and what is missing. Tests may cover what there
is. Whoever builds the rest marks a test with the row and takes it away here."""


def new_coverage() -> Coverage:
    return Coverage("covers", {"NOT BUILT": NOT_BUILT})


def main(paths: list[str]) -> int:
    coverage = new_coverage()
    coverage.run(paths, "--no-summary")
    ended = coverage.print_rows(ROWS, {"passed"})
    print(f"open: {', '.join(row for row in ROWS if coverage.result(row) != 'passed') or 'none'}")
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
