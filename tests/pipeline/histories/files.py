"""Landings and expectations as files: JSON lines to land, parquet to compare with."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyarrow as pa  # type: ignore[import-untyped] # it has none
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from histories.history import Case, expected_rows
from histories.messages import messages, source_name

FILES_PER_LANDING = 4
"""Spark reads a compressed file in one task."""

NAMING = ("event", "read", "window_read")
"""Kinds of entries that show whose BEGIN and END a topic holds."""

CUTS = pa.schema(
    [
        ("source", pa.string()),
        ("commit_number", pa.int64()),
        ("commit_position", pa.string()),
        ("transaction_id", pa.string()),
        ("proof", pa.string()),
    ]
)
ROWS = pa.schema(
    [
        ("source", pa.string()),
        ("table_name", pa.string()),
        ("row", pa.string()),
        ("row_count", pa.int64()),
    ]
)


def write_landings(directory: Path, cases: Sequence[Case]) -> list[Path]:
    """One folder for each landing, in lock-step: `directory/landing_0` and so on.

    A landing to which no case brings anything has an empty folder.
    """
    count = max(case.plan.landing_count for case in cases)
    folders = [directory / f"landing_{number}" for number in range(count)]
    lines: list[list[list[bytes]]] = [[[] for _ in range(FILES_PER_LANDING)] for _ in folders]
    encode = msgspec.json.Encoder().encode
    for at, case in enumerate(cases):
        for entry, message in messages(case.plan):
            line = encode(message)
            for landing in (entry.landing, entry.again):
                if landing is not None:
                    lines[landing][at % FILES_PER_LANDING].append(line)
    for folder, files in zip(folders, lines, strict=True):
        folder.mkdir(parents=True)
        for number, some in enumerate(files):
            if some:
                text = b"\n".join(some) + b"\n"
                # Nothing orders the lines of a landing, so they come backwards, too.
                if number % 2:
                    text = b"\n".join(reversed(some)) + b"\n"
                (folder / f"histories_{number}.jsonl.gz").write_bytes(gzip.compress(text, 1))
    return folders


def write_expected(directory: Path, cases: Sequence[Case]) -> None:
    """`cuts_<landing>.parquet` and `rows_<landing>.parquet` for each landing.

    A case with fewer landings than others stays as it is after its last one.
    """
    directory.mkdir(parents=True, exist_ok=True)
    shown = [expected_rows(case.plan, (cut.cut for cut in case.cuts if cut)) for case in cases]
    for landing in range(max(case.plan.landing_count for case in cases)):
        cuts: list[tuple[str, int | None, str | None, str | None, str]] = []
        rows: list[tuple[str, str, str, int]] = []
        for case, rows_at in zip(cases, shown, strict=True):
            name, cut = source_name(case.plan), case.cuts[min(landing, len(case.cuts) - 1)]
            if cut is None or landing < named_in(case):
                continue
            cuts.append(
                (name, cut.commit_number, cut.commit_position, cut.transaction_id, cut.proof)
            )
            rows += [(name, *row) for row in rows_at[cut.cut]]
        _write(directory / f"cuts_{landing}.parquet", CUTS, cuts)
        _write(directory / f"rows_{landing}.parquet", ROWS, rows)


def named_in(case: Case) -> int:
    """The landing that first brings what names the source; none where nothing does."""
    landings = [
        entry.landing
        for entry in case.plan.entries
        if entry.landing is not None and entry.kind in NAMING and entry.topic != "message"
    ]
    return min(landings, default=case.plan.landing_count)


def _write(path: Path, schema: pa.Schema, rows: Sequence[Sequence[object]]) -> None:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    pq.write_table(pa.table(arrays, schema=schema), path)
