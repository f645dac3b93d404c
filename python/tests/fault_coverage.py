"""The test catalogue: of each fault and bad input what must come of it, and which test proves it.

`python fault_coverage.py PATH...` runs the tests that carry `@pytest.mark.fault`, prints one line
for each fault, and ends with 1 when one has neither a test nor a sentence, or a test failed.
"""

import sys

from covered import DATA, Coverage, read_rows

ROWS = read_rows(DATA / "faults.tsv")
"""Each fault's number, the fault, and what is required of it. S0 to S21 and P1 are rules."""

OPEN: dict[str, str] = {
    "5": "a read of PostgreSQL without position holds its snapshot: only the LSN says which one it "
    "is of, and rows of one that was interrupted must not be shown; all 1,244 initial and blocking "
    "reads of the small captures have one",
    "25": "held where an END counts the change; taken by watermark where no END has landed",
    "28": "told apart in different runs, and across an epoch that an operator declares; else all "
    "that follows is held",
    "30": "what does not follow the first chain is held, so that other sources go on; "
    "the run fails where refused_holds names missing_predecessor",
    "32": "compaction of such a topic shows as missing events and holds, so that other sources go "
    "on; the run fails where refused_holds names missing_events",
    "33": "columns yes; the identity is the message key, unless the history model names another",
    "48": "held as snapshot_incomplete; a streamed change does not make up for the last marker",
    "75": "shows nothing, and the next run is right; files of a failed write are not looked for",
    "76": "a damaged file keeps the whole landing out, by name; parquet is not read",
    "77": "each line is checked and each file copied by its hash; without a manifest of the writer "
    "a missing file, or one cut at the end of a line, shows as missing events only",
    "80": "a new lake's folder is private, readers have a schema of their own, and quarantine "
    "holds no value; rights in a shared catalog are left to that catalog",
}
"""Faults of which the project does not do all that is required; a test may prove a part of it."""

CANNOT_BE_TESTED: dict[str, str] = {
    "50": "PostgreSQL cannot send it: the lock of the chunk makes TRUNCATE wait until the window "
    "has closed; of other connectors there is no capture of it",
}
"""Why no test here can prove it."""


def new_coverage() -> Coverage:
    return Coverage("fault", {"open": OPEN, "cannot be tested here": CANNOT_BE_TESTED})


def main(paths: list[str]) -> int:
    coverage = new_coverage()
    coverage.run(paths)
    return coverage.print_rows(ROWS, {"passed", "open", "cannot be tested here"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
