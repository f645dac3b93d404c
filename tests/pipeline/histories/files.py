"""Landings and expectations as files: JSON lines to land, parquet to compare with."""

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa  # type: ignore[import-untyped] # it has none
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from histories.history import History, expected_rows
from histories.messages import messages

FILES_PER_LANDING = 4
"""Spark reads a compressed file in one task."""

CUTS = pa.schema(
    [
        ("source", pa.string()),
        ("commit_number", pa.int64()),
        ("commit_position", pa.string()),
        ("transaction_id", pa.string()),
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


def write_landings(directory: Path, histories: Sequence[History]) -> list[Path]:
    """One folder for each landing, in lock-step: `directory/landing_0` and so on.

    A landing to which no history brings anything has an empty folder.
    """
    count = max(history.plan.landing_count for history in histories)
    folders = [directory / f"landing_{number}" for number in range(count)]
    lines: list[list[list[bytes]]] = [[[] for _ in range(FILES_PER_LANDING)] for _ in folders]
    encode = msgspec.json.Encoder().encode
    for at, history in enumerate(histories):
        for entry, message in messages(history.plan):
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


def write_expected(directory: Path, histories: Iterable[History]) -> None:
    """`cuts_<landing>.parquet` and `rows_<landing>.parquet` for each landing."""
    cuts: list[list[tuple[str, int | None, str | None, str | None]]] = []
    rows: list[list[tuple[str, str, str, int]]] = []
    for history in histories:
        name = history.plan.name
        shown = expected_rows(history.plan, (cut.cut for cut in history.cuts if cut))
        for landing, cut in enumerate(history.cuts):
            while len(cuts) <= landing:
                cuts.append([])
                rows.append([])
            if cut:
                cuts[landing].append(
                    (name, cut.commit_number, _text(cut.commit_position), _text(cut.transaction_id))
                )
                rows[landing].extend((name, *row) for row in shown[cut.cut])
    directory.mkdir(parents=True, exist_ok=True)
    for landing in range(len(cuts)):
        _write(directory / f"cuts_{landing}.parquet", CUTS, cuts[landing])
        _write(directory / f"rows_{landing}.parquet", ROWS, rows[landing])


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _write(path: Path, schema: pa.Schema, rows: Sequence[Sequence[object]]) -> None:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    pq.write_table(pa.table(arrays, schema=schema), path)
