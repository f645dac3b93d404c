"""The limit of one Python process without Spark: what landing and histories cost as plain Parquet.

    python bench/one_process.py land FOLDER FILE.jsonl...
    python bench/one_process.py histories FOLDER FILE.jsonl...

`land` checks that each line is a message, and writes it. `histories` flattens messages of
PostgreSQL as this project does, takes whole transactions in the order of their LSN, and writes all
versions of all rows. It holds all messages in memory, and knows neither snapshots nor a second run.
Printed are CPU-seconds.
"""

import io
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.json as pj  # type: ignore[import-untyped]  # ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types

from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.messages.flat import Flat
from dbt_debezium.settings import DEFAULTS

BATCH = 10_000
BLOCK = 1 << 24
"""Bytes of JSON that Arrow reads at a time; a row must fit."""


class Message(msgspec.Struct):
    topic: str
    partition: int
    offset: int
    timestamp: int
    key: str | None
    value: str | None


class Version(msgspec.Struct):
    row: str
    key: str
    commit: int
    operation: str
    replaced_by: int | None = None


def messages(files: list[str]) -> Iterator[Message]:
    decode = msgspec.json.Decoder(Message).decode
    for name in files:
        with Path(name).open("rb") as lines:
            yield from map(decode, lines)


def write(rows: list[dict[str, object]], path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path, compression="zstd")


def land(files: list[str], folder: Path) -> None:
    some = messages(files)
    for number in range(sys.maxsize):
        batch = [msgspec.structs.asdict(message) for message in islice(some, BATCH)]
        if not batch:
            return
        write(batch, folder / f"{number}.parquet")


def transactions(files: list[str]) -> dict[str, list[list[Flat]]]:
    """Whole transactions of each source in the order of their LSN, up to one that is not whole."""
    changes: defaultdict[tuple[str | None, str | None], dict[int | None, Flat]] = defaultdict(dict)
    ends: list[Flat] = []
    for one in messages(files):
        flat = flatten_message(one.topic, one.key, one.value, (), DEFAULTS)
        if flat.marker == "END":
            ends.append(flat)
        elif flat.kind == "change":
            changes[flat.source, flat.transaction_id][flat.total_order] = flat
    found: defaultdict[str, list[list[Flat]]] = defaultdict(list)
    for end in sorted(ends, key=lambda flat: (flat.source or "", flat.commit_position or "")):
        events = changes[end.source, end.transaction_id]
        received = Counter(flat.data_collection for flat in events.values())
        if received != Counter(end.collection_counts):
            raise SystemExit(f"transaction {end.transaction_id} of {end.source} is not whole")
        found[end.source or ""].append([events[order] for order in sorted(events, key=int_of)])
    return found


def int_of(order: int | None) -> int:
    return order or 0


def versions_of(commits: list[list[Flat]]) -> dict[str, list[Version]]:
    """Of each table, all versions of its rows; what one commit made and replaced is left out."""
    found: defaultdict[str, list[Version]] = defaultdict(list)
    current: defaultdict[str, dict[str, Version]] = defaultdict(dict)
    for number, events in enumerate(commits, 1):
        for flat in events:
            table, rows = flat.table_name or "", current[flat.table_name or ""]
            if flat.operation == "t":
                for row in rows.values():
                    row.replaced_by = number
                rows.clear()
                continue
            key = flat.row_key or ""
            if key in rows:
                rows.pop(key).replaced_by = number
            if flat.operation != "d":
                rows[key] = Version(flat.after or "", key, number, flat.operation or "")
                found[table].append(rows[key])
    return {
        table: [one for one in some if one.commit != one.replaced_by]
        for table, some in found.items()
    }


def histories(files: list[str], folder: Path) -> None:
    for source, commits in transactions(files).items():
        for table, versions in versions_of(commits).items():
            rows = io.BytesIO("\n".join(one.row for one in versions).encode())
            read = pj.read_json(rows, pj.ReadOptions(block_size=BLOCK))
            for name in ("key", "commit", "operation", "replaced_by"):
                read = read.append_column(
                    f"_{name}", pa.array([getattr(v, name) for v in versions])
                )
            pq.write_table(read, folder / f"{source}.{table}.parquet", compression="zstd")


def main() -> None:
    what, folder, *files = sys.argv[1:]
    Path(folder).mkdir(parents=True)
    before = time.process_time()
    {"land": land, "histories": histories}[what](files, Path(folder))
    print(f"{time.process_time() - before:.1f}")


if __name__ == "__main__":
    main()
