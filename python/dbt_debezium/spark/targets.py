"""The settings of a target's Spark, its catalog and its build schema."""

from typing import Any

from dbt_debezium.spark.catalogs import catalog_of
from dbt_debezium.spark.profiles import read_target, target_without_dbt
from dbt_debezium.spark.site import completed, site_defaults


def catalog_of_target(target: str | None) -> dict[str, str]:
    """What names the catalog that a session of a target writes to.

    Raises:
        DebeziumError: there is no profiles.yml, or it has no such target.
    """
    return catalog_of(named_settings_of_target(target))


def named_settings_of_target(target: str | None) -> dict[str, Any]:
    """Completed settings of a target with those that it leaves to the site.

    Raises:
        DebeziumError: there is no profiles.yml, or it has no such target.
    """
    settings = settings_of_target(target)
    # What the target leaves to the site names the catalog too.
    return site_defaults() | (spark_settings(target) if settings is None else settings)


def settings_of_target(target: str | None, folder: str = "") -> dict[str, Any] | None:
    """Completed settings of a target, without the second that dbt takes; None if it must be asked.

    Args:
        folder: of profiles.yml, where it is not that of the environment or the project.
    """
    output = target_without_dbt(target, folder)
    return None if output is None else completed(output["server_side_parameters"])


def spark_settings(target: str | None = None) -> dict[str, Any]:
    """The server_side_parameters of a target, completed."""
    return completed(read_target(target).get("server_side_parameters") or {})


def build_schema(target: str | None = None) -> str:
    """The schema that a target's models are built in."""
    output = target_without_dbt(target) or read_target(target)
    return str(output.get("schema") or "build")
