"""The archive with all that executors need of Python: this package, and what it imports.

It is named by its content, and the same content gives the same bytes. Executors bring Spark, and
Python itself in the driver's minor version.
"""

import hashlib
import importlib.util
import platform
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dbt_debezium.errors import DebeziumError

FOLDER: Final = "dbt_debezium_env"
"""Where executors unpack it, in the folder that they work in."""
PACKED: Final = (
    "dbt_debezium",
    "msgspec",
    "pyarrow",
    # Of Spark, the Python part: its own zip, read for each task, takes a second of CPU.
    "pyspark",
    "py4j",
    "fastavro",
    "yaml",
    "_yaml",
    "typing_extensions",
)
LEFT_OUT: Final = re.compile(
    r"(^|/)(__pycache__|tests)/|\.(pyc|pyi|pyx|pxd|pxi|h|cc|typed)$"
    r"|^pyspark/(bin|data|examples|jars|licenses|ml|mllib|pandas|pipelines|python|sbin)/"
    r"|^pyarrow/(include|src)/|^pyarrow/[^/]*flight[^/]*\.so"
    r"|^dbt_debezium/(cli|dbt_package|project_template|spark/conf)/"
)
"""What executors do not import, and most of the size."""
LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)


def pack(folder: Path) -> Path:
    """Write the archive into a folder, unless it is there.

    Raises:
        DebeziumError: it cannot be written.
    """
    files = dict(sorted(_files()))
    name = f"dbt-debezium-{_version()}-{_digest(files)}.zip"
    archive = folder / name
    if archive.is_file():
        return archive
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".pack-") as unfinished:
            file = Path(unfinished) / name
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as written:
                for inside, path in files.items():
                    entry = zipfile.ZipInfo(inside, LONG_AGO)
                    entry.external_attr = 0o644 << 16
                    written.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 1)
            file.chmod(0o644)
            file.replace(archive)
    except OSError as error:
        raise DebeziumError(
            f"pack: {archive} cannot be written ({error.strerror}); "
            "name a folder that can be, and has 100 MB"
        ) from error
    return archive


def _version() -> str:
    """Of Python and the machine, which compiled modules are made for."""
    return f"py{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"


def _files() -> Iterator[tuple[str, Path]]:
    for name in PACKED:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue
        origin = Path(found.origin)
        if origin.name != "__init__.py":
            yield origin.name, origin
            continue
        root = origin.parent.parent
        for path in origin.parent.rglob("*"):
            inside = path.relative_to(root).as_posix()
            if path.is_file() and not LEFT_OUT.search(inside):
                yield inside, path


def _digest(files: dict[str, Path]) -> str:
    whole = hashlib.sha256()
    for inside, path in files.items():
        with path.open("rb") as file:
            whole.update(f"{inside} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()[:16]
