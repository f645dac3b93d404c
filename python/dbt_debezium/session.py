"""The Spark session of the command line, with the settings that dbt would start it with."""

import contextvars
import logging
import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from dbt_debezium.addresses import SECRET, without_passwords
from dbt_debezium.catalogs import CATALOGS, REMOTE, SQLITE, catalog_of, without_parameters
from dbt_debezium.errors import DebeziumError
from dbt_debezium.executors import executor_versions
from dbt_debezium.home import lake_dir, make_private, project_dir
from dbt_debezium.java import check_java
from dbt_debezium.java_output import start_java
from dbt_debezium.local_files import use_plain_files
from dbt_debezium.lost_catalog import check_catalog_file, remedy_of
from dbt_debezium.package_files import NAME, package_dir
from dbt_debezium.remote import remote_session
from dbt_debezium.repeated_keys import repeated_key
from dbt_debezium.site import (
    completed,
    executors_python,
    is_embedded,
    is_remote,
    site_conf,
    site_defaults,
    with_parts,
)
from dbt_debezium.yaml_loader import LOADER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SET_LATER: Final = "set when Spark has started"
SQL_SETTINGS: Final = {
    # A column called ${env:NAME} would become what this variable of Spark's process holds.
    "spark.sql.variable.substitute": "false",
    # A backslash in a literal would stay two.
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""What text of the data may end in a statement with, whatever the profile or the site says."""


def spark_session(target: str | None = None) -> "SparkSession":
    """Start Spark, or return the session of this process.

    dbt takes the same session when it runs in the same process: one JVM, one set of settings.

    Args:
        target: a target of profiles.yml; by default DBT_TARGET, else the profile's own default.

    Raises:
        DebeziumError: Java, a jar, the profile or the catalog is not as it must be.
    """
    settings = spark_settings(target)
    if not is_remote(settings):
        check_java()
    _make_lake(settings)
    spark = session_of(settings)
    open_catalog(spark, settings)
    return spark


def session_of(settings: Mapping[str, Any]) -> "SparkSession":
    """The session of this process; if there is none, one with these completed settings.

    Raises:
        DebeziumError: a jar is absent, or executors do not run.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if is_remote(settings):
        return with_plain_sql(remote_session(settings))
    check_catalog_file({**site_defaults(), **settings})
    is_new = SparkContext._active_spark_context is None
    if is_new:
        prepare_process()
        os.environ.setdefault("PYSPARK_PYTHON", executors_python(settings))
        settings = with_parts(settings)
    # What Java starts with can be read by all users of the machine.
    secrets = secrets_of(settings)
    plain = {name: one for name, one in settings.items() if name not in secrets}
    if is_new:
        # Its log of events hides settings that it has started with, and shows all later ones.
        plain |= dict.fromkeys(secrets, SET_LATER)
        start_java(plain)
    spark = SparkSession.builder.config(map=plain).getOrCreate()
    for name, value in secrets.items():
        spark.conf.set(name, value)
    if is_new and not is_embedded(dict(spark.sparkContext.getConf().getAll())):
        executor_versions(spark)
    return with_plain_sql(spark)


def with_plain_sql(spark: "SparkSession") -> "SparkSession":
    """The session, in which the text of a statement means what it says.

    Raises:
        DebeziumError: a server of Spark Connect lets no session set it.
    """
    from pyspark.errors import PySparkException

    for name, value in SQL_SETTINGS.items():
        try:
            spark.conf.set(name, value)
            found = spark.conf.get(name)
        except PySparkException as error:
            found = innermost(error)
        if found != value:
            raise DebeziumError(
                f"spark: {name} must be {value} and stays as it is ({found}), so a name from a "
                "message could become something else in a statement; set it in spark-defaults.conf"
                " of the server, or let sessions set it"
            )
    return spark


def secrets_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of catalogs that are secret; Iceberg takes them from a session that has begun.

    Spark itself, Hadoop and others take theirs only as it starts.

    >>> password = "spark.hadoop.fs.s3a.secret.key"
    >>> secrets_of({"spark.sql.catalog.lake.token": "a", password: "b", "spark.master": "yarn"})
    {'spark.sql.catalog.lake.token': 'a'}
    >>> list(secrets_of({"spark.sql.catalog.lake.uri": "jdbc:postgresql://a/b?password=c"}))
    ['spark.sql.catalog.lake.uri']
    """
    return {
        name: one
        for name, one in settings.items()
        if name.startswith(CATALOGS)
        and (re.search(SECRET, name) or without_passwords(str(one)) != str(one))
    }


def prepare_process() -> None:
    """Settings of the process that Spark reads as it starts."""
    # The start would print a dozen warnings that tell nobody anything.
    if site_conf() is None:
        os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "spark_conf")
    # It repeats each failed statement as one line of 10 to 30 kB.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


def spark_settings(target: str | None = None) -> dict[str, Any]:
    """The server_side_parameters of a target, completed."""
    return completed(read_target(target).get("server_side_parameters") or {})


def build_schema(target: str | None = None) -> str:
    """The schema that a target's models are built in."""
    from dbt_debezium.catalogs import target_without_dbt

    output = target_without_dbt(target) or read_target(target)
    return str(output.get("schema") or "build")


def public_schema(project: Path) -> str:
    """The schema that readers use, a setting of dbt_project.yml."""
    return str(project_settings(project)["public_schema"])


def project_settings(project: Path) -> dict[str, Any]:
    """The settings of a project: vars of its dbt_project.yml, and of the package's.

    Raises:
        DebeziumError: a key appears twice, of which dbt reads the last one alone, or vars.yml has
            variables.
    """
    return own_settings(package_dir()) | own_settings(project)


def own_settings(project: Path) -> dict[str, Any]:
    """What dbt_project.yml of one folder says, as `project_settings`.

    Those below the name of the package count first, as dbt has it for the package's models.
    """
    settings = read_vars(project)
    own = settings.get(NAME)
    if not isinstance(own, dict):
        return settings
    return {name: value for name, value in settings.items() if name != NAME} | own


def read_vars(project: Path) -> dict[str, Any]:
    """The vars of dbt_project.yml as they are written.

    Raises:
        DebeziumError: as `project_settings`.
    """
    if (project / "vars.yml").is_file():
        # dbt 1.11 does not read it, and dbt 1.12 reads it in place of those of dbt_project.yml.
        raise DebeziumError(
            f"project: {project / 'vars.yml'} has variables, and commands read those of "
            "dbt_project.yml alone; move them into its vars"
        )
    text = (project / "dbt_project.yml").read_text(encoding="utf-8")
    # dbt's own reader does the same, and takes half a second to import.
    settings: dict[str, Any] = (yaml.load(text, LOADER) or {}).get("vars") or {}
    if repeated := repeated_key(text):
        raise DebeziumError(
            f"dbt_project.yml, line {repeated[1]}: {repeated[0]} appears twice; write it once, "
            "with all that belongs to it"
        )
    return settings


def _check_dbt(target: str | None) -> None:
    """Refuse a target that only dbt can read, where it is not installed.

    Raises:
        DebeziumError: it is not.
    """
    from dbt_debezium.catalogs import target_without_dbt

    if find_spec("dbt") is None and target_without_dbt(target) is None:
        named = f"the target '{target}'" if target else "the target"
        raise DebeziumError(
            f"profile: {named} of {project_dir() / 'profiles.yml'} is not there, or only dbt can "
            "read it; correct its name, or pip install 'dbt-debezium[spark]'"
        )


def read_target(target: str | None = None) -> dict[str, Any]:
    """A target of the profile, rendered as dbt renders it.

    Raises:
        DebeziumError: there is no profiles.yml, or it has no such profile or target.
    """
    _check_dbt(target)
    from dbt.clients.yaml_helper import load_yaml_text
    from dbt.config.profile import Profile, read_profile
    from dbt.config.renderer import ProfileRenderer
    from dbt_common.context import set_invocation_context
    from dbt_common.exceptions import DbtBaseException

    project = project_dir()
    folder = Path(os.environ.get("DBT_PROFILES_DIR") or project)
    try:
        profiles = read_profile(str(folder))
        if not profiles:
            raise DebeziumError(
                f"profile: no profiles.yml in {folder}; set DBT_PROFILES_DIR to the folder it is in"
            )
        settings = load_yaml_text((project / "dbt_project.yml").read_text()) or {}
        name = settings.get("profile")
        if name not in profiles:
            raise DebeziumError(
                f"profile: {folder / 'profiles.yml'} has no profile '{name}'; "
                f"dbt_project.yml names it, and there is: {', '.join(profiles)}"
            )
        target = target or os.environ.get("DBT_TARGET") or None
        outputs = profiles[name].get("outputs") or {}
        if target and target not in outputs:
            raise DebeziumError(
                f"profile: {folder / 'profiles.yml'} has no target '{target}'; "
                f"there is: {', '.join(outputs)}"
            )
        # env_var reads the environment from dbt's context; a run of dbt's later brings its own.
        context = contextvars.copy_context()
        context.run(set_invocation_context, os.environ)
        _, output = context.run(
            Profile.render_profile, profiles[name], name, target, ProfileRenderer({})
        )
    except DbtBaseException as error:
        sentence = " ".join(str(error).split())
        raise DebeziumError(f"profile: {folder / 'profiles.yml'}: {sentence}") from error
    except OSError as error:
        raise DebeziumError(f"profile: {error.filename}: {error.strerror}") from error
    rendered: dict[str, Any] = output
    return rendered


def check_lake(target: str | None = None) -> None:
    """Refuse to read a lake that is not there, which Spark would make.

    Raises:
        DebeziumError: the target's catalog is a file, and there is none, or it knows nothing of
            the tables that are there.
    """
    from dbt_debezium.catalogs import named_settings_of_target

    settings = named_settings_of_target(target)
    check_catalog_file(settings)
    uri = catalog_of(settings).get("uri", "")
    if uri.startswith(SQLITE) and not Path(uri.removeprefix(SQLITE)).is_file():
        raise nothing_landed()


def nothing_landed() -> DebeziumError:
    """What is to be said of a lake in which there is nothing to look at."""
    return DebeziumError(
        f"lake: nothing has landed in {lake_dir()}; run `dbt-debezium land`, "
        "or set DBT_DEBEZIUM_LAKE to the folder of a lake"
    )


def nothing_published(command: str) -> DebeziumError:
    """What a command is to say of a lake in which no run has published anything."""
    return DebeziumError(
        f"{command}: nothing is published yet; land messages and run `dbt-debezium run`"
    )


def _catalog_uri(settings: dict[str, Any]) -> str:
    return _of_catalog(settings, "uri")


def _is_in_a_folder(settings: dict[str, Any]) -> bool:
    """Whether catalog and tables are files of this machine."""
    warehouse = _of_catalog(settings, "warehouse")
    return _catalog_uri(settings).startswith(SQLITE) and Path(warehouse).is_absolute()


def _of_catalog(settings: dict[str, Any], name: str) -> str:
    catalog = settings.get("spark.sql.defaultCatalog", "spark_catalog")
    return str(settings.get(f"{CATALOGS}{catalog}.{name}", ""))


def _make_lake(settings: dict[str, Any]) -> None:
    """SQLite makes the file of the catalog, but not the folder it is in."""
    folders = [lake_dir()]
    uri = _catalog_uri(settings)
    if uri.startswith(SQLITE):
        folders.append(Path(uri.removeprefix(SQLITE)).parent)
    for folder in folders:
        make_private(folder)


def open_catalog(spark: "SparkSession", settings: dict[str, Any]) -> None:
    """Open the catalog, which Spark would do at the first statement, with a page of Java."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # it has no types
    from pyspark.errors import PySparkException

    try:
        spark.sql("show namespaces").collect()
    except (PySparkException, Py4JJavaError) as error:
        uri = _catalog_uri(settings) or "the default catalog"
        remedy = remedy_of(innermost(error))
        if is_remote(settings):
            uri = f"the catalog of {without_parameters(settings[REMOTE])}"
            remedy = "check what its spark-defaults.conf says of lake, and whether that runs"
        elif not uri.startswith(SQLITE):
            remedy = "check its address, whether it runs, and its credentials (docs/cluster.md)"
        sentence = f"catalog: {uri} cannot be opened ({innermost(error)}); {remedy}"
        raise DebeziumError(without_passwords(sentence)) from error
    if _is_in_a_folder(settings):
        use_plain_files(spark)


def innermost(error: Exception) -> str:
    """The message at the bottom of Java's causes, on one line."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    message = str(error)
    while java is not None:
        message = java.getMessage() or message
        java = java.getCause()
    return message.strip().splitlines()[0] if message.strip() else type(error).__name__
