"""What files say, as somebody reads them who looks for a word."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import fastavro
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """What the files of a folder say, unpacked."""
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            file = pq.ParquetFile(path)
            yield path, f"{file.read().to_pylist()} {file.metadata.to_dict()}".encode()
        elif path.suffix == ".avro":
            with path.open("rb") as avro:
                yield path, repr(list(fastavro.reader(avro))).encode()
        elif path.suffix == ".gz":
            yield path, gzip.decompress(path.read_bytes())
        elif path.is_file():
            yield path, path.read_bytes()
