"""Java, the jars and the project: what every command needs before Spark starts."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dbt_debezium.doctor.finding import Finding, checked
from dbt_debezium.home import jars_dir, lake_dir
from dbt_debezium.kafka.landing_file import (
    FILE,
    KafkaBlock,
    client_options,
    read_landing_file,
    registry_of,
)
from dbt_debezium.messages.hashing import check_hash_key
from dbt_debezium.project_settings import read_settings
from dbt_debezium.scaffold.project_models import ProjectModels
from dbt_debezium.spark.jars import check_jars, wrong_jars
from dbt_debezium.spark.java import check_java
from dbt_debezium.spark.profiles import read_target
from dbt_debezium.spark.site import is_remote, uses_jars_folder, with_named
from dbt_debezium.spark.targets import settings_of_target


def machine_findings(project: Path, target: str | None) -> Iterator[Finding]:
    """Of one machine, for one target of profiles.yml."""
    settings = settings_of_target(target)
    is_here = settings is None or not is_remote(settings)
    for check in (
        *((_java, partial(_jars, settings)) if is_here else ()),
        partial(_target, target),
        partial(_project, project),
        partial(_landing_file, project),
    ):
        yield from checked(check)


def _java() -> Iterator[Finding]:
    yield Finding("ok", f"java: {check_java()}")


def _jars(settings: Mapping[str, Any] | None) -> Iterator[Finding]:
    if settings is not None and not uses_jars_folder(settings):
        yield Finding("ok", "jars: profiles.yml or spark-defaults.conf names them")
        return
    check_jars()
    wrong = wrong_jars()
    for name in wrong:
        yield Finding(
            "wrong",
            f"jars: {jars_dir() / name} is not the pinned file; run `dbt-debezium jars`, which "
            "fetches it again",
        )
    if not wrong:
        yield Finding("ok", f"jars: {jars_dir()} has the pinned ones")


def _target(target: str | None) -> Iterator[Finding]:
    output = read_target(target)
    parameters = with_named(output.get("server_side_parameters") or {})
    catalog = parameters.get("spark.sql.defaultCatalog", "spark_catalog")
    yield Finding(
        "ok",
        f"profile: schema {output.get('schema', 'build')} of catalog {catalog}, "
        f"lake {lake_dir().absolute()}",
    )


def _project(project: Path) -> Iterator[Finding]:
    check_hash_key(read_settings(project))
    tables = len(ProjectModels.read(project).histories)
    if not tables:
        yield Finding(
            "note",
            f"project: {project} has models of no table; land messages and run "
            "`dbt-debezium scaffold`",
        )
        return
    yield Finding("ok", f"project: {project} has models of {tables} tables")


def _landing_file(project: Path) -> Iterator[Finding]:
    if not (project / FILE).is_file():
        yield Finding("note", f"{FILE}: there is none, so land and run need a source each time")
        return
    blocks = read_landing_file(project)
    for name, block in blocks.items():
        if isinstance(block, KafkaBlock):
            client_options(name, block)
        registry_of(name, block)
    yield Finding("ok", f"{FILE}: names {', '.join(blocks)}")
