"""Which rows of what the reference documents ask have a test, and what it says.

`python document_coverage.py PATH...` runs the tests that carry `@pytest.mark.covers`, prints one
line for each row, and ends with 1 when a row has no test, a failed one, or still needs the tables.
"""

import sys

from covered import DATA, Coverage, read_rows

ROWS = read_rows(DATA / "documents" / "coverage.tsv")
"""Each row's id, and in one line what it asks."""

NEEDS_PIPELINE = {
    "DB2-03": "two members of one name are flagged",
    "DB2-04": "a column that an event lacks is unknown in the tables, not null",
    "DB2-08": "a configured key wins over the message key",
    "DB2-09": "a keyless table is a bag of rows",
    "DB2-16": "both parts of a key change are in one cut",
    "DB2-22": "a gap of offsets with short counts holds the cut",
    "DB2-24": "tables of two databases of one Db2 source stay apart, or are refused",
    "DB2-27": "streamed changes follow the snapshot",
    "DB2-28": "a snapshot at weak isolation is flagged",
    "DB2-29": "a table without a read is no error",
    "DB2-30": "an expected table without a read is flagged",
    "DB2-31": "of two attempts of a snapshot the newest complete one counts",
    "DB2-32": "a table that is not ingested is passed over, and still counted",
    "DB2-34": "changes of unknown keys apply, and the table has no baseline",
    "DB2-35": "a later snapshot replaces the tables",
    "DB2-36": "rows deleted during the downtime are reported",
    "DB2-37": "a gap before the snapshot is flagged",
    "DB2-38": "a read again is an upsert",
    "DB2-39": "a topic that is made again lands again",
    "DB2-41": "a partial snapshot deletes no row",
    "DB2-45": "a table is complete when its incremental snapshot has ended",
    "DB2-46": "a chunk that is read twice changes nothing",
    "DB2-47": "an incremental read applies at its place",
    "DB2-50": "a schema change inside an incremental snapshot is flagged",
    "DB2-51": "the signal table is counted and not published",
    "DB2-54": "a table whose snapshot was stopped is flagged",
    "DB2-57": "events sent again are dropped as duplicates",
    "DB2-58": "a table that is dropped or no longer captured is flagged, its rows stay",
    "DB2-66": "a DROP in the schema-change topic deletes no row, and flags the table",
    "DB2-78": "a transaction of which one of two changes has landed is held",
    "DB2-84": "END of one source completes no transaction of another",
    "MSS-09": "both parts of a key change are in one cut, the delete first",
    "MSS-16": "a streamed change without LSN holds the cut",
    "PG-06": "the row identity is configurable, a change of key columns is seen",
    "PG-07": "a key in text and a row in numbers are one row",
    "PG-08": "a change without its key column in row and key is held",
    "PG-09": "a keyless table is a bag of rows",
    "PG-13": "a keyless table without old images is append-only and flagged",
    "PG-15": "a keyless delete takes away one equal row",
    "PG-16": "rows identified by an index go by its columns",
    "PG-21": "a tie that nothing orders is resolved one way and reported",
    "PG-26": "both parts of a key change are in one cut",
    "PG-27": "headers that landed in base64 are read",
    "PG-29": "a gap of offsets with short counts holds the cut",
    "PG-31": "truncates of two tables are in one cut",
    "PG-32": "a row before a truncate does not survive it, whenever it arrives",
    "PG-35": "a cut without counts is labelled watermark",
    "PG-38": "two members of one name are flagged",
    "CDL-08": "the source of 1.0 comes from a setting; without one it is cdl",
    "CDL-11": "the database of 1.0 comes from a setting; without one it is null",
    "CDL-17": "a cut of CDL is labelled watermark or none",
    "CDL-24": "a time has one type from both versions",
    "CDL-25": "the scale of a decimal comes from a setting",
    "CDL-32": "rows of both versions are in one table",
    "CDL-33": "the heartbeat table comes from a setting; without one it is cdc_cdl.cdc_heartbeat",
}
"""Rows that only tables, cuts or settings can prove, with what is left to prove; some have a test
of the messages already. Whoever proves one marks the test with it and takes the row away."""


def new_coverage() -> Coverage:
    return Coverage("covers", {"not proved yet": NEEDS_PIPELINE})


def main(paths: list[str]) -> int:
    coverage = new_coverage()
    coverage.run(paths, "--no-summary")
    return coverage.print_rows(ROWS, {"passed"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
