"""From dump files into the table `landing.message`, each message of a file exactly once.

A file that was checked goes into the inbox under the name of its content's hash; one Structured
Streaming query reads what is new in the inbox. Its checkpoint knows which names were read, and
Iceberg's sink knows which of its batches were written, so a landing that was killed anywhere is
finished by the next one. A file that grew has another hash and lands again whole; the models drop
what was delivered twice.

Maintenance must not expire the newest streaming snapshot of the table while a killed landing is
unfinished: the sink finds its last batch by looking through the table's snapshots.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped] # it has no types
from pyspark.errors import StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir
from dbt_debezium.lease import Lease, jvm_lease
from dbt_debezium.messages import FileFacts, check_file, file_hash, find_files, no_messages
from dbt_debezium.session import innermost

TABLE = "landing.message"
FILES_PER_COMMIT = 1000
"""A commit costs 0.5 CPU-s, however many files it takes; a killed one is read again whole."""

PARALLEL_LISTING = "spark.sql.sources.parallelPartitionDiscovery.threshold"

CREATE_TABLE = f"""
create table {TABLE} (
    landing_id bigint comment 'Which landing brought it; later landings have larger ones.',
    topic string,
    partition int,
    offset bigint,
    timestamp timestamp comment 'The broker''s, UTC; null when the dump has none.',
    key string comment 'Exact text; null when the message has no key.',
    value string comment 'Exact text; null for a tombstone.',
    headers array<struct<key: string, value: string>> comment 'Empty when there are none.'
)
using iceberg
partitioned by (landing_id)
tblproperties (
    'format-version' = '2',
    -- One landing is one partition: shuffling by it would leave all rows to one task.
    'write.distribution-mode' = 'none',
    -- Each commit leaves a metadata file behind.
    'write.metadata.delete-after-commit.enabled' = 'true',
    'write.metadata.previous-versions-max' = '20'
)
"""

OnProgress = Callable[[str, int, int], None]
"""Called with the step, how much is done, and of how much: 'check' in bytes, 'land' in messages."""


@dataclass(frozen=True, slots=True)
class Landed:
    """What one call of `land` did."""

    message_count: int
    """Rows this call added; with them those that a killed landing had not written yet."""
    file_count: int
    """Files of the path whose content had not landed."""
    skipped_files: tuple[Path, ...]
    """Files in the folder in which no line is a message."""
    landing_id: int | None
    """None when nothing was to be landed."""


def land(spark: SparkSession, path: str | Path, on_progress: OnProgress | None = None) -> Landed:
    """Append the messages in a file, or in the files directly in a folder, to `landing.message`.

    All or nothing as far as reading goes: when one line of one file is bad, no file is landed.

    Raises:
        DebeziumError: the path is not what can be read, a line is not a message, another run is
            going on, or Spark cannot write.
    """
    source = local_path(path)
    lake = lake_dir().absolute()
    with Lease(lake_dir(), f"land {path}"):
        inbox = Inbox(lake / "inbox")
        fresh, skipped = _check(source, inbox, on_progress)
        for facts in fresh:
            inbox.put(facts)
        if not inbox.has_unread():
            return Landed(0, 0, skipped, None)
        with jvm_lease(getattr(spark, "_jvm", None), lake):
            landing_id = _next_landing_id(spark, lake)
            message_count = sum(facts.message_count for facts in fresh)
            _stream(spark, lake, landing_id, lambda done: _tell(on_progress, done, message_count))
        inbox.empty()
        landed_count = spark.table(TABLE).where(f"landing_id = {landing_id}").count()
        return Landed(landed_count, len(fresh), skipped, landing_id)


def local_path(path: str | Path) -> Path:
    """A path of this machine.

    Raises:
        DebeziumError: it names another kind of place.
    """
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", str(path))
    if scheme:
        raise DebeziumError(
            f"land: {scheme[1]}:// is not read yet; "
            "files and folders of JSON lines are, named by their path"
        )
    return Path(path).expanduser()


def _tell(on_progress: OnProgress | None, done: int, message_count: int) -> None:
    if on_progress:
        on_progress("land", min(done, message_count), message_count)


def _check(
    source: Path, inbox: "Inbox", on_progress: OnProgress | None
) -> tuple[list[FileFacts], tuple[Path, ...]]:
    """Split the files at the path into those to land and those that are not ours."""
    files = find_files(source)
    total = sum(file.stat().st_size for file in files)
    done = 0
    fresh: dict[str, FileFacts] = {}
    skipped: list[Path] = []
    is_known = False

    def tell(byte_count: int) -> None:
        nonlocal done
        done += byte_count
        if on_progress:
            on_progress("check", done, total)

    for file in files:
        # Hashing costs a fiftieth of checking, and most files of a folder have landed before.
        if inbox.knows(file_hash(file)):
            is_known = True
            tell(file.stat().st_size)
            continue
        facts = check_file(file, tell)
        if facts.message_count == 0 and file != source:
            skipped.append(file)
            continue
        if refusal := facts.refusal():
            raise refusal
        if facts.message_count:
            fresh.setdefault(facts.sha256, facts)
    if not fresh and not is_known:
        raise no_messages(source)
    return list(fresh.values()), tuple(skipped)


class Inbox:
    """The folder that the streaming query reads: a file per content, emptied once it has landed.

    An entry is a copy. A hard link would follow a writer who appends to his file in place, and the
    query would read lines that nobody checked. The empty entry stays, to know the content again.
    """

    # Listing costs little: 5,000 entries add 0.1 CPU-s to a landing.

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def exists(self) -> bool:
        return self._folder.is_dir()

    def knows(self, sha256: str) -> bool:
        """Whether this content has landed, or waits to be."""
        return any((self._folder / name).exists() for name in _entry_names(sha256))

    def has_unread(self) -> bool:
        """Whether an entry may not have landed."""
        return any(entry.stat().st_size for entry in self._entries())

    def put(self, facts: FileFacts) -> None:
        """Copy a file that was checked.

        Raises:
            DebeziumError: it is no longer what was checked, or the lake cannot take it.
        """
        plain, compressed = _entry_names(facts.sha256)
        # Spark does not read names that begin with `_`.
        unfinished = self._folder / "_unfinished"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if _copy(facts.path, unfinished) != facts.sha256:
                raise DebeziumError(
                    f"{facts.path}: changed while it was read; land it when it is written"
                )
            unfinished.rename(self._folder / (compressed if facts.is_gzip else plain))
        except OSError as error:
            raise DebeziumError(
                f"{facts.path}: cannot be copied to {self._folder} ({error.strerror}); "
                "the lake needs room for the file until it has landed"
            ) from error

    def empty(self) -> None:
        """Forget the content of all entries, which must have landed, but not their names."""
        for entry in self._entries():
            if entry.stat().st_size:
                os.truncate(entry, 0)

    def _entries(self) -> list[os.DirEntry[str]]:
        if not self.exists():
            return []
        with os.scandir(self._folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(("_", "."))]


def _entry_names(sha256: str) -> tuple[str, str]:
    return f"{sha256}.jsonl", f"{sha256}.jsonl.gz"


def _copy(source: Path, copy: Path) -> str:
    """Copy a file down to the disk, and return the SHA-256 of what was copied."""
    copied = hashlib.sha256()
    with source.open("rb") as reader, copy.open("wb") as writer:
        while chunk := reader.read(1 << 20):
            copied.update(chunk)
            writer.write(chunk)
        writer.flush()
        os.fsync(writer.fileno())
    return copied.hexdigest()


def _next_landing_id(spark: SparkSession, lake: Path) -> int:
    """A number no landing had, above all that were given out.

    The file counts beside the table, since retention may take the newest rows out of the table.
    """
    checkpoint = lake / "checkpoints" / "landing"
    if not spark.catalog.tableExists(TABLE):
        if checkpoint.exists():
            raise DebeziumError(
                f"land: table {TABLE} is gone, and {checkpoint} knows what was landed into it; "
                f"remove {checkpoint} and {lake / 'inbox'} to land all files again"
            )
        spark.sql(f"create schema if not exists {TABLE.partition('.')[0]}")
        spark.sql(CREATE_TABLE)
    counter = lake / "checkpoints" / "landing_id"
    given_out = int(counter.read_text()) if counter.exists() else 0
    (in_table,) = spark.sql(f"select coalesce(max(landing_id), 0) from {TABLE}").head() or (0,)
    landing_id = max(given_out, int(in_table)) + 1
    counter.parent.mkdir(parents=True, exist_ok=True)
    unfinished = counter.with_name("_landing_id")
    unfinished.write_text(str(landing_id))
    unfinished.rename(counter)
    return landing_id


def _stream(
    spark: SparkSession, lake: Path, landing_id: int, on_messages: Callable[[int], None]
) -> None:
    """Land what is unread in the inbox, and return when it is committed."""
    lines = (
        spark.readStream.format("text")
        # By default a carriage return ends a line, too.
        .option("lineSep", "\n")
        .option("maxFilesPerTrigger", FILES_PER_COMMIT)
        # Names are hashes. By default a name is forgotten after 7 days, and would land again.
        .option("fileNameOnly", "true")
        .option("maxFileAge", "36500d")
        .load(str(lake / "inbox"))
    )
    writer = (
        messages(lines, landing_id)
        .writeStream.format("iceberg")
        .outputMode("append")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(lake / "checkpoints" / "landing"))
        .option("fanout-enabled", "true")
    )
    # Above 32 files Spark looks at each one in a task of its own: 7 ms of CPU per file.
    usual = spark.conf.get(PARALLEL_LISTING)
    spark.conf.set(PARALLEL_LISTING, 2 * FILES_PER_COMMIT)
    try:
        query = writer.toTable(TABLE)
    finally:
        spark.conf.set(PARALLEL_LISTING, usual or "32")
    try:
        while not query.awaitTermination(1):
            on_messages(_read_count(query))
        on_messages(_read_count(query))
    except StreamingQueryException as error:
        raise DebeziumError(
            f"land: Spark could not write {TABLE} ({innermost(error)}); "
            "mend that and land again, which continues where it stopped"
        ) from error
    except (Py4JError, OSError) as error:
        raise DebeziumError(
            "land: Spark's Java process ended, most likely because memory ran out; "
            "set DBT_DEBEZIUM_DRIVER_MEMORY higher and land again, which continues where it stopped"
        ) from error
    finally:
        with contextlib.suppress(Py4JError, OSError):
            query.stop()


def _read_count(query: StreamingQuery) -> int:
    return sum(progress.numInputRows for progress in query.recentProgress)


def messages(lines: DataFrame, landing_id: int) -> DataFrame:
    """Turn lines, in a column called value, into rows of `landing.message`; one row per line.

    Lines were checked before: one that is not a message fails the query.
    """
    # As text, `timestamp` may be a number or a time, and `headers` of either shape.
    texts = ("topic", "timestamp", "ts", "key", "value", "payload", "headers")
    line = T.StructType(
        [
            T.StructField("partition", T.IntegerType()),
            T.StructField("offset", T.LongType()),
            *(T.StructField(name, T.StringType()) for name in texts),
        ]
    )
    # By default a text longer than 20 million characters is an error.
    options = {"mode": "FAILFAST", "maxStringLen": str(2**31 - 1)}
    line_message = F.from_json("value", line, options)
    return (
        lines.where(F.col("value").rlike(r"\S"))
        .select(line_message.alias("line"))
        .select("line.*")
        .select(
            F.lit(landing_id).cast("bigint").alias("landing_id"),
            "topic",
            "partition",
            "offset",
            _timestamp(F.coalesce("timestamp", "ts")).alias("timestamp"),
            "key",
            F.coalesce("value", "payload").alias("value"),
            _headers(F.col("headers")).alias("headers"),
        )
    )


def _timestamp(text: Column) -> Column:
    """Milliseconds since 1970, or a time; Kafka's -1 is no timestamp."""
    return F.when(text.rlike(r"^\d+$"), F.timestamp_millis(text.cast("bigint"))).when(
        ~text.rlike(r"^-\d+$"), F.try_to_timestamp(text)
    )


def _headers(text: Column) -> Column:
    """Objects with key and value, or kcat's keys and values in turn."""
    header = T.StructType(
        [T.StructField("key", T.StringType()), T.StructField("value", T.StringType())]
    )
    objects = F.from_json(text, T.ArrayType(header))
    turns = F.from_json(text, T.ArrayType(T.StringType()))
    pairs = F.filter(
        F.transform(
            turns, lambda key, i: F.struct(key.alias("key"), F.get(turns, i + 1).alias("value"))
        ),
        lambda _, i: i % 2 == 0,
    )
    return (
        F.when(text.isNull() | text.rlike(r"^\[\s*\]$"), F.array().cast(T.ArrayType(header)))
        .when(text.rlike(r"^\[\s*\{"), objects)
        .otherwise(pairs)
    )
