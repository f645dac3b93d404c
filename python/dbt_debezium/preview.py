"""Look at messages: land them in a throw-away lake, write models for them, build, show, forget."""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import yaml
from pyspark.sql import SparkSession

from dbt_debezium.amounts import counted
from dbt_debezium.build import BUILD, environment, first_sentence, run_dbt
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import jars_dir, project_dir
from dbt_debezium.kafka.land import KafkaLanded, land_kafka
from dbt_debezium.kafka.landing_file import KafkaBlock
from dbt_debezium.landing.land import land
from dbt_debezium.package import contents, empty_seeds, read_settings, write_files
from dbt_debezium.patterns import matches
from dbt_debezium.project_settings import project_settings
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.scaffold.captured import CapturedTable, Group, LeftOut, captured_tables
from dbt_debezium.scaffold.identities import indistinct_sentence, name_identities
from dbt_debezium.scaffold.landed_tables import landed_tables
from dbt_debezium.scaffold.model_files import history_sql
from dbt_debezium.scaffold.tables import TableFacts, full_name
from dbt_debezium.settings import settings_of
from dbt_debezium.spark.session import spark_session
from dbt_debezium.status.encoded_columns import ShownTable, encoded_columns
from dbt_debezium.status.published_rows import published_rows
from dbt_debezium.status.report import cut_report
from dbt_debezium.status.unrepresentable import unrepresentable_counts, unrepresentable_sentence

if TYPE_CHECKING:
    from dbt_debezium.reasons import Command

CORE_MODELS = ("landing", "staging", "transactions")
MOST_BUILDS: Final = 6
"""A build that fails on a table is followed by one that holds its transaction, or leaves it out."""
CLASH_TEST: Final = "is_unique_by_stg_message"
CLASH: Final = """
select topic, partition, offset
from landing.message
group by topic, partition, offset
having count(distinct struct(key, value)) > 1
order by topic, partition, offset
limit 1
"""
CONTRADICTION: Final = re.compile("takes a row that the keyless table .* does not hold", re.DOTALL)
"""A failure that the next build holds by itself (docs/decisions/0009)."""

OnStep = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics of Kafka, read from their beginning."""

    blocks: Mapping[str, KafkaBlock]
    """By the name that sentences begin with."""
    limit: int
    """Offsets of each partition that are read at most."""
    must_be_whole: bool = False
    """Whether to refuse partitions that have more."""

    def __str__(self) -> str:
        return ", ".join(self.blocks)


@dataclass(frozen=True, slots=True)
class Preview:
    """What was built. It is gone when the `with` block of `previewed` ends."""

    spark: SparkSession
    tables: list[CapturedTable]
    left_out: list[LeftOut]
    """Tables that are not shown."""
    skipped_files: tuple[str, ...]
    """A sentence for each file of the path that is no dump."""
    fetched: Mapping[str, KafkaLanded]
    """What was read of each block of topics; empty for a dump."""

    def shown_tables(self) -> list[ShownTable]:
        """Its public tables."""
        return [
            ShownTable(table.model_name, table.captured(), table.facts.types())
            for table in self.tables
        ]


@contextmanager
def previewed(
    source: str | Path | Topics,
    groups: Sequence[Group] = (),
    settings: dict[str, Any] | None = None,
    on_step: OnStep = lambda step: None,
    identities: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Preview]:
    """Build the tables of a dump, or of topics.

    Args:
        source: the path of a dump, as `land` takes it, or topics of Kafka.
        groups: sources that share one set of tables.
        settings: vars for dbt.
        on_step: called with what is being done.
        identities: by table, the columns that tell its rows apart.

    Raises:
        DebeziumError: there are no messages, Kafka cannot be read, or the build failed on more than
            tables.
    """
    project = project_dir()
    jars = jars_dir().absolute()
    with tempfile.TemporaryDirectory(prefix="dbt-debezium-") as folder:
        lake = Path(folder) / "lake"
        copy = Path(folder) / "project"
        with environment(DBT_DEBEZIUM_LAKE=str(lake), DBT_DEBEZIUM_JARS=str(jars)):
            if SparkSession.getActiveSession() is not None:
                raise DebeziumError(
                    "preview: this process has a Spark session, whose lake it would land in; "
                    "stop the session first"
                )
            on_step("starting Spark")
            spark = spark_session("local")
            try:
                landed = land_source(spark, source, on_step)
                on_step(f"looking at {landed.message_count:,} messages")
                named = settings_of(project_settings(project) | (settings or {}))
                seen = landed_tables(spark, named)
                name_identities(seen, identities or {})
                left_out = signal_tables(seen)
                tables = captured_tables(
                    [facts for facts in seen if not facts.has_signals], groups, (), left_out
                )
                write_project(project, copy, tables, settings or {}, is_preview=True)
                try:
                    tables = build_tables(copy, tables, left_out, on_step)
                except DebeziumError as error:
                    is_clash = CLASH_TEST in str(error)
                    if is_clash and (clash := clash_sentence(spark)):
                        raise DebeziumError(f"preview: {source}: {clash}") from error
                    raise
                yield Preview(spark, tables, left_out, landed.skipped_files, landed.fetched)
            finally:
                spark.stop()


@dataclass(frozen=True, slots=True)
class LandedSource:
    """What landed in the throw-away lake."""

    message_count: int
    skipped_files: tuple[str, ...] = ()
    fetched: Mapping[str, KafkaLanded] = field(default_factory=dict)


def land_source(spark: SparkSession, source: str | Path | Topics, on_step: OnStep) -> LandedSource:
    """Land a dump, or the beginning of topics.

    Raises:
        DebeziumError: there are no messages, or they cannot be read.
    """

    if not isinstance(source, Topics):
        on_step(f"landing {source}")
        landed = land(spark, source)
        return LandedSource(landed.message_count, landed.skipped_files)
    fetched: dict[str, KafkaLanded] = {}
    for name, block in source.blocks.items():
        on_step(f"{name}: asking {block.bootstrap_servers} for its topics")
        # A preview of what has not been sent yet would be empty.
        whole = msgspec.structs.replace(block, starting_offsets="earliest")

        def tell(done: int, total: int, name: str = name) -> None:
            on_step(f"{name}: read {done:,} of {total:,} offsets")

        fetched[name] = land_kafka(spark, name, whole, tell, limit=source.limit)
        cut_off = fetched[name].plan.cut_off
        if source.must_be_whole and cut_off:
            first, longest = cut_off[0], max(one.log_end - one.start for one in cut_off)
            raise DebeziumError(
                f"--complete: {name}: {first.topic}, partition {first.partition}, has more than "
                f"the first {source.limit:,} offsets; pass --limit {longest} too"
            )
    message_count = sum(one.message_count for one in fetched.values())
    if not message_count:
        topics = sum(one.topic_count for one in fetched.values())
        raise DebeziumError(
            f"{source}: {counted(topics, 'topic fits', 'topics fit')}, without a message; "
            "name topics that the connector has written to"
        )
    return LandedSource(message_count, (), fetched)


def build_tables(
    project: Path, tables: Sequence[CapturedTable], left_out: list[LeftOut], on_step: OnStep
) -> list[CapturedTable]:
    """Build until everything that can be shown is published.

    Args:
        project: the dbt project with the tables' models.
        tables: the tables.
        left_out: takes each table that cannot be built.
        on_step: called with what is being done.

    Returns:
        The tables that were built.

    Raises:
        DebeziumError: something else than a table cannot be built.
    """
    shown = list(tables)
    for number in range(1, MOST_BUILDS + 1):
        on_step(f"building {len(shown)} tables" + (" again" if number > 1 else ""))
        lines: list[str] = []
        failures: dict[str, str] = {}
        if run_dbt(
            [*BUILD, "--target", "local"],
            project,
            on_node=lambda name, index, total: on_step(f"built {index} of {total}: {name}"),
            on_line=lines.append,
            on_failure=failures.__setitem__,
        ):
            return shown
        models = {f"{table.model_name}_history": table for table in shown}
        if not failures or not failures.keys() <= models.keys():
            break
        for name, message in failures.items():
            if CONTRADICTION.search(message) and number < MOST_BUILDS - 1:
                continue
            left_out.append(failed_table(models[name], message))
            (project / "models" / "history" / f"{name}.sql").unlink()
            shown.remove(models[name])
    raise DebeziumError(f"preview: {'; '.join(lines) or 'dbt build failed'}")


def clash_sentence(spark: SparkSession) -> str | None:
    """That two messages cannot both be at one place of Kafka; None when no two are."""
    clash = spark.sql(CLASH).head()
    if clash is None:
        return None
    topic, partition, offset = clash
    return (
        f"topic {topic}, partition {partition}, offset {offset} has two messages that differ; "
        "look at the dump of one cluster alone, taken since its topics were last recreated"
    )


def failed_table(table: CapturedTable, message: str) -> LeftOut:
    """A table that cannot be built, with dbt's message."""
    name = full_name(table.schema, table.table)
    # A preview has no next run.
    why = first_sentence(message).partition("; the next run")[0]
    return LeftOut(table.sources, f"table {name} cannot be built: {why}")


def signal_tables(tables: Sequence[TableFacts]) -> list[LeftOut]:
    """Tables of signals, whose rows are no data (S10).

    >>> signal_tables([TableFacts("shop", "public", "signals", has_signals=True)])[0].sentence
    'table public.signals holds signals to the connector, which are no data'
    """
    return [
        LeftOut(
            [facts.source],
            f"table {full_name(facts.schema, facts.table)} holds signals to the connector, which "
            "are no data",
        )
        for facts in tables
        if facts.has_signals
    ]


def preview_report(preview: Preview, command: "Command" = "preview") -> list[dict[str, Any]]:
    """The entries of `cut_report`, with what else is to be said of each source in `sentences`.

    Args:
        preview: what was built.
        command: in whose words to say it.
    """

    tables = preview.tables
    lake = SparkReader(preview.spark)
    counts = unrepresentable_counts(
        published_rows(lake, [table.model_name for table in tables], "public")
    )
    report = cut_report(lake)
    encoded = encoded_columns(lake, preview.shown_tables(), "build", "public")
    for entry in report:
        source = entry["source"]
        entry["encoded_columns"] = encoded.get(source, {})
        indistinct = (
            indistinct_sentence(table.facts, source, command)
            for table in tables
            if any(matches(pattern, source) for pattern in table.sources)
        )
        entry["sentences"] = [sentence for sentence in indistinct if sentence]
        if source in counts:
            entry["sentences"].append(unrepresentable_sentence(source, counts[source]))
        entry["sentences"] += [
            f"{source}: left out: {one.sentence}"
            for one in preview.left_out
            if any(matches(pattern, source) for pattern in one.sources)
        ]
    return report


def write_project(
    project: Path,
    copy: Path,
    tables: Sequence[CapturedTable],
    settings: dict[str, Any],
    is_preview: bool = False,
) -> None:
    """Write a dbt project with the package's core and a history model for each table.

    Args:
        project: the project whose settings and profiles it has.
        copy: folder of the new one.
        tables: those that have models.
        settings: vars that differ.
        is_preview: whether nobody is there to decide about tables. A key may change then, which a
            sentence names, and the project may hash columns of tables that are not there.
    """

    # Decisions about a project's own sources say nothing of a dump.
    write_files(copy, {**contents(), **empty_seeds()})
    if (project / "profiles.yml").is_file():
        shutil.copy(project / "profiles.yml", copy)
    configuration = read_settings(copy)
    configuration["profile"] = read_settings(project)["profile"]
    models = configuration["models"]["dbt_debezium"]
    configuration["models"]["dbt_debezium"] = {
        **{folder: models[folder] for folder in CORE_MODELS if folder in models},
        "history": models["shop"]["history"],
    }
    # What a project says of its own topics need not be true of a dump. What names sources stays.
    configuration["vars"] = project_settings(project)
    configuration["vars"].update(
        {
            "public_schema": "public",
            "public_as_table": [],
            "not_ingested_tables": [],
            "landing_reaches_the_end": False,
            "refused_flags": [],
            "refused_holds": [],
            "refused_proofs": [],
            "sources_without_truncate": [],
            "watermark_sources": [],
            **settings,
        }
    )
    if is_preview:
        hooks = configuration["on-run-start"]
        configuration["on-run-start"] = [one for one in hooks if "check_hashed_columns" not in one]
    (copy / "dbt_project.yml").write_text(
        yaml.safe_dump(configuration, sort_keys=False), encoding="utf-8"
    )
    histories = copy / "models" / "history"
    histories.mkdir()
    for table in tables:
        captured = table.captured() | {"schema_changes": "ignore" if is_preview else "evolve"}
        text = history_sql(captured, table.model_name, table.facts.types())
        (histories / f"{table.model_name}_history.sql").write_text(text, encoding="utf-8")
