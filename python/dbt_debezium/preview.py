"""Look at a dump: land it in a throw-away lake, write models for it, build, show, forget."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dbt_debezium.build import BUILD, environment, run_dbt
from dbt_debezium.connectors.settings import settings_of
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import jars_dir, project_dir
from dbt_debezium.model_files import history_sql
from dbt_debezium.scaffold import CapturedTable, Group, captured_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CORE_MODELS = ("landing", "staging", "transactions")


@dataclass(frozen=True, slots=True)
class Preview:
    """A built dump. It is gone when the `with` block of `previewed` ends."""

    spark: "SparkSession"
    tables: list[CapturedTable]
    skipped_files: tuple[Path, ...]


@contextmanager
def previewed(
    path: str | Path,
    groups: Sequence[Group] = (),
    settings: dict[str, Any] | None = None,
    on_step: Callable[[str], None] = lambda step: None,
) -> Iterator[Preview]:
    """Build the tables of a dump.

    Args:
        path: what `land` takes.
        groups: sources that share one set of tables.
        settings: vars for dbt.
        on_step: called with what is being done.

    Raises:
        DebeziumError: the path holds no messages or no changes, or the build failed.
    """
    project = project_dir()
    jars = jars_dir().absolute()
    with tempfile.TemporaryDirectory(prefix="dbt-debezium-") as folder:
        lake = Path(folder) / "lake"
        copy = Path(folder) / "project"
        with environment(DBT_DEBEZIUM_LAKE=str(lake), DBT_DEBEZIUM_JARS=str(jars)):
            from pyspark.sql import SparkSession

            from dbt_debezium.landing import land
            from dbt_debezium.session import project_settings, spark_session
            from dbt_debezium.tables import landed_tables

            if SparkSession.getActiveSession() is not None:
                raise DebeziumError(
                    "preview: this process has a Spark session, whose lake it would land in; "
                    "stop the session first"
                )
            on_step("starting Spark")
            spark = spark_session("local")
            try:
                on_step(f"landing {path}")
                landed = land(spark, path)
                on_step(f"looking at {landed.message_count:,} messages")
                named = settings_of(project_settings(project) | (settings or {}))
                tables = captured_tables(landed_tables(spark, named), groups)
                # Nobody is there to decide about a key that changes: it is told at the end.
                write_project(project, copy, tables, settings or {}, "ignore")
                on_step(f"building {len(tables)} tables")
                lines: list[str] = []
                if not run_dbt(
                    [*BUILD, "--target", "local"],
                    copy,
                    on_node=lambda name, index, total: on_step(f"built {index} of {total}: {name}"),
                    on_line=lines.append,
                ):
                    raise DebeziumError(f"preview: {'; '.join(lines) or 'dbt build failed'}")
                yield Preview(spark, tables, landed.skipped_files)
            finally:
                spark.stop()


def write_project(
    project: Path,
    copy: Path,
    tables: Sequence[CapturedTable],
    settings: dict[str, Any],
    schema_changes: str = "evolve",
) -> None:
    """Write a dbt project with this one's core and a history model for each table.

    Args:
        schema_changes: the policy of all models for changes of their tables.
    """
    for folder in CORE_MODELS:
        shutil.copytree(project / "models" / folder, copy / "models" / folder)
    shutil.copy(project / "models" / "_columns.md", copy / "models")
    shutil.copytree(project / "macros", copy / "macros")
    # Decisions about a project's own sources say nothing of a dump.
    (copy / "seeds").mkdir()
    for seed in (project / "seeds").glob("*.csv"):
        header = seed.read_text(encoding="utf-8").splitlines()[0]
        (copy / "seeds" / seed.name).write_text(f"{header}\n", encoding="utf-8")
    (copy / "tests").mkdir()
    for test in [*(project / "tests").glob("*.sql"), *(project / "tests").glob("*.yml")]:
        shutil.copy(test, copy / "tests")
    shutil.copytree(project / "tests" / "generic", copy / "tests" / "generic")
    shutil.copy(project / "profiles.yml", copy)
    configuration = yaml.safe_load((project / "dbt_project.yml").read_text(encoding="utf-8"))
    models = configuration["models"]["dbt_debezium"]
    configuration["models"]["dbt_debezium"] = {
        **{folder: models[folder] for folder in CORE_MODELS if folder in models},
        "history": models["shop"]["history"],
    }
    # What a project says of its own topics need not be true of a dump. What it says of CDL stays:
    # that is how it names sources.
    configuration["vars"].update(
        {
            "public_schema": "public",
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
    (copy / "dbt_project.yml").write_text(
        yaml.safe_dump(configuration, sort_keys=False), encoding="utf-8"
    )
    histories = copy / "models" / "history"
    histories.mkdir()
    for table in tables:
        captured = table.captured() | {"schema_changes": schema_changes}
        text = history_sql(captured, table.model_name, table.facts.types())
        (histories / f"{table.model_name}_history.sql").write_text(text, encoding="utf-8")
