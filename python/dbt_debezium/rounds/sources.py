"""The sources of a round: files, topics of Kafka, tables of messages, or none.

Each is asked without Spark whether it has something new. In doubt it says yes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dbt_debezium.amounts import counted
from dbt_debezium.dumps import Dump
from dbt_debezium.errors import DebeziumError, NothingThereError
from dbt_debezium.kafka.landing_file import KafkaBlock, client_options, registry_of
from dbt_debezium.kafka.plan import failed_sentences
from dbt_debezium.landing.inbox import open_inbox, take
from dbt_debezium.lease import LostLeaseError
from dbt_debezium.message_tables.block import TableBlock
from dbt_debezium.rounds.broker_ends import ask_ends, ends_of, key_of
from dbt_debezium.rounds.file_hashes import FileHashes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Tell = Callable[[str], None]
"""Called with the step that begins."""


@dataclass(frozen=True, slots=True)
class Landing:
    """The result of landing a source."""

    message_count: int = 0
    lines: tuple[str, ...] = ()
    """How much landed from where."""
    notes: tuple[str, ...] = ()
    """Sentences that the user must know or act on."""
    ends: Mapping[str, str] = field(default_factory=dict)
    """How far topics have landed, by `broker_ends.key_of`."""
    failures: tuple[str, ...] = ()
    """Why blocks of landing.yml, or topics of them, could not be landed. The others have landed."""
    has_looked_again: bool = False
    """Whether partitions are now known to end where they did, which may prove a snapshot."""
    look_again_at: float | None = None
    """When the next such look may prove one, in seconds since 1970."""

    def checked(self) -> "Landing":
        """The landing, if a block has landed or none has failed.

        Raises:
            DebeziumError: all blocks have failed.
        """
        if self.failures and not self.lines:
            raise DebeziumError(*self.failures)
        return self


@contextmanager
def _noted(failures: list[str]) -> Iterator[None]:
    """Note why a block cannot be landed, so that the others are: retention does not wait."""

    try:
        yield
    except LostLeaseError:
        raise
    except DebeziumError as error:
        if str(error) not in failures:
            failures.append(str(error))


class Source(Protocol):
    """Where messages come from."""

    def look(self, ends: Mapping[str, str], tell: Tell) -> bool:
        """Whether something may have to be landed; asked before each landing, without Spark.

        Args:
            ends: `Landing.ends` of the run that published last.

        Raises:
            DebeziumError: it cannot be read.
        """

    def land(self, spark: "SparkSession", tell: Tell) -> Landing:
        """Land it, under a lease that the caller holds. Blocks that fail are in the result.

        Raises:
            DebeziumError: it cannot be read, or Spark cannot write.
        """

    def unlanded(self) -> Landing:
        """The result if there was nothing to land."""


class NoSource:
    """No source: messages land by other commands."""

    def look(self, ends: Mapping[str, str], tell: Tell) -> bool:
        return False

    def land(self, spark: "SparkSession", tell: Tell) -> Landing:
        return Landing()

    def unlanded(self) -> Landing:
        return Landing()


class PathSource:
    """A dump of topics: a file, or a folder.

    Args:
        path: of this machine.
        catalog: names the catalog that it lands in.
        may_be_empty: whether messages may come into the folder later.
    """

    def __init__(self, path: Path, catalog: Mapping[str, str], may_be_empty: bool = False) -> None:
        self._path = path
        self._catalog = catalog
        self._may_be_empty = may_be_empty
        self._hashes = FileHashes()
        self._fresh: Sequence[Dump] = ()
        self._skipped: tuple[str, ...] = ()

    def look(self, ends: Mapping[str, str], tell: Tell) -> bool:

        inbox = open_inbox(self._catalog)
        self._fresh, self._skipped = (), ()
        try:
            self._fresh, self._skipped = take(
                self._path, inbox, self._progress(tell), self._hashes.of
            )
        except NothingThereError:
            if not self._may_be_empty:
                raise
        return inbox.has_unread()

    def land(self, spark: "SparkSession", tell: Tell) -> Landing:
        # A round without news starts no Spark, and imports nothing of it.
        from dbt_debezium.landing.land import land_inbox

        landed = land_inbox(
            spark, open_inbox(self._catalog), self._fresh, self._skipped, self._progress(tell)
        )
        return self._landing(landed.message_count, landed.file_count)

    def unlanded(self) -> Landing:
        return self._landing(0, 0)

    def _landing(self, message_count: int, file_count: int) -> Landing:
        files = counted(file_count, "new file")
        line = f"landed {counted(message_count, 'message')} of {files}"
        return Landing(message_count, (line,), tuple(f"skipped {one}" for one in self._skipped))

    def _progress(self, tell: Tell) -> Callable[[str, int, int], None]:
        def progress(step: str, done: int, total: int) -> None:
            share = f" {done * 100 // total} %" if total else ""
            tell(f"{'checking' if step == 'check' else 'landing'} {self._path}{share}")

        return progress


class KafkaSource:
    """Blocks of landing.yml, or the one that an address stands for, by name.

    Args:
        blocks: at least one.
        quiet_after: see `Silence`.

    Raises:
        DebeziumError: an option names a variable or a file that is not there.
    """

    def __init__(
        self, blocks: Mapping[str, KafkaBlock], quiet_after: timedelta = timedelta(0)
    ) -> None:

        self._blocks = blocks
        self._quiet_after = quiet_after
        for name, block in blocks.items():
            client_options(name, block)
            registry_of(name, block)

    def look(self, ends: Mapping[str, str], tell: Tell) -> bool:

        for name, block in self._blocks.items():
            known = ends.get(key_of(block))
            tell(f"{name}: asking {block.bootstrap_servers} for its ends")
            try:
                options = client_options(name, block)
            except DebeziumError:
                # As while a secret is replaced. The landing says it, and lands the other blocks.
                return True
            if known is None or ask_ends(block, options) != known:
                return True
        return False

    def land(self, spark: "SparkSession", tell: Tell) -> Landing:
        from dbt_debezium.kafka.land import land_kafka

        message_count = 0
        lines: list[str] = []
        notes: list[str] = []
        ends: dict[str, str] = {}
        failures: list[str] = []
        has_looked_again = False
        looks: list[float] = []
        for name, block in self._blocks.items():
            tell(f"{name}: asking {block.bootstrap_servers} for its topics")

            def progress(done: int, total: int, name: str = name) -> None:
                tell(f"{name}: landed {done:,} of {total:,} offsets")

            others = [one for one in self._blocks.values() if one is not block]

            def is_of_others(topic: str, others: Sequence[KafkaBlock] = others) -> bool:
                return any(one.has(topic) for one in others)

            with _noted(failures):
                landed = land_kafka(
                    spark,
                    name,
                    block,
                    progress,
                    is_of_others=is_of_others,
                    quiet_after=self._quiet_after,
                )
                message_count += landed.message_count
                has_looked_again |= landed.has_looked_again
                if landed.look_again_at:
                    looks.append(landed.look_again_at.timestamp())
                lines.append(
                    f"{name}: landed {counted(landed.message_count, 'message')} of "
                    f"{counted(landed.topic_count, 'topic')}, "
                    f"{counted(landed.partition_count, 'partition')}"
                )
                failed = failed_sentences(name, landed.plan)
                notes += (one for one in landed.sentences(name) if one not in failed)
                failures += failed
                if not landed.unknown_schemas:  # the next landing asks the registry again
                    ends[key_of(block)] = ends_of(landed.plan)
        return Landing(
            message_count,
            tuple(lines),
            tuple(notes),
            ends,
            tuple(failures),
            has_looked_again,
            min(looks, default=None),
        )

    def unlanded(self) -> Landing:
        return Landing(0, tuple(f"{name}: landed 0 messages" for name in self._blocks))


class TableSource:
    """Tables of messages, by the names of their blocks.

    Raises:
        DebeziumError: a password names a variable or a file that is not there.
    """

    def __init__(self, blocks: Mapping[str, TableBlock]) -> None:

        self._blocks = blocks
        for name, block in blocks.items():
            registry_of(name, block)

    def look(self, ends: Mapping[str, str], tell: Tell) -> bool:
        # Only Spark knows its catalogs and file systems.
        return bool(self._blocks)

    def land(self, spark: "SparkSession", tell: Tell) -> Landing:
        from dbt_debezium.message_tables.land import land_table

        message_count = 0
        lines: list[str] = []
        notes: list[str] = []
        failures: list[str] = []
        for name, block in self._blocks.items():
            tell(f"{name}: landing what is new in {block.name}")
            with _noted(failures):
                # A new one each time: a registry remembers what it was not given, too.
                landed = land_table(spark, name, block, registry_of(name, block))
                message_count += landed.message_count
                lines.append(landed.sentence(name))
                notes += landed.notes(name)
        return Landing(message_count, tuple(lines), tuple(notes), failures=tuple(failures))

    def unlanded(self) -> Landing:
        return Landing()


class SeveralSources:
    """Sources that land one after the other; none of them needs to look before it lands."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    def look(self, ends: Mapping[str, str], tell: Tell) -> bool:
        return any(source.look(ends, tell) for source in self._sources)

    def land(self, spark: "SparkSession", tell: Tell) -> Landing:
        return _sum(source.land(spark, tell) for source in self._sources)

    def unlanded(self) -> Landing:
        return _sum(source.unlanded() for source in self._sources)


def _sum(landings: Iterable[Landing]) -> Landing:
    found = [*landings]
    return Landing(
        sum(one.message_count for one in found),
        tuple(line for one in found for line in one.lines),
        tuple(note for one in found for note in one.notes),
        {key: end for one in found for key, end in one.ends.items()},
        tuple(sentence for one in found for sentence in one.failures),
        any(one.has_looked_again for one in found),
        min((one.look_again_at for one in found if one.look_again_at), default=None),
    )
