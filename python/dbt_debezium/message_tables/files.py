"""Which Parquet files there are, and which of them have not landed."""

from collections.abc import Iterator
from typing import Any

from dbt_debezium.errors import DebeziumError, innermost


def files_of(jvm: Any, configuration: Any, where: str, pattern: str) -> list[tuple[str, str]]:
    """The files that a pattern names, in order: each path, and a mark that changes with it.

    Args:
        jvm: py4j's view of the JVM.
        configuration: Hadoop's, of the session.
        where: begins the sentence of an error.
        pattern: a folder, a file, or a pattern as Hadoop has it.

    Raises:
        DebeziumError: the file system cannot be read, or nothing fits.
    """
    try:
        path = jvm.org.apache.hadoop.fs.Path(pattern)
        file_system = path.getFileSystem(configuration)
        found = file_system.globStatus(path)
        listed = [one for status in found or () for one in _listed(file_system, status)]
    except Exception as error:
        raise DebeziumError(
            f"{where}: files: {pattern} cannot be listed ({innermost(error)}); name a folder or a "
            "pattern of Parquet files, with a scheme that Spark can read"
        ) from None
    if not listed:
        raise DebeziumError(
            f"{where}: files: no Parquet file fits {pattern}; name a folder or a pattern that does"
        )
    return sorted(
        (str(one.getPath().toString()), f"{one.getLen()} {one.getModificationTime()}")
        for one in listed
    )


def _listed(file_system: Any, status: Any) -> Iterator[Any]:
    """The Parquet files in a folder and below it; writers hide theirs behind _ and a dot."""
    name = status.getPath().getName()
    if name.startswith(("_", ".")):
        return
    if status.isDirectory():
        for inner in file_system.listStatus(status.getPath()):
            yield from _listed(file_system, inner)
    elif name.endswith(".parquet"):
        yield status
