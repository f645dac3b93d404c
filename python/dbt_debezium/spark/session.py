"""The Spark session of the command line, with the settings that dbt would start it with."""

import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.addresses import SECRET, without_passwords
from dbt_debezium.errors import DebeziumError, innermost
from dbt_debezium.home import lake_dir, make_private
from dbt_debezium.spark.catalogs import CATALOGS, REMOTE, SQLITE, catalog_of, without_parameters
from dbt_debezium.spark.executors import executor_versions
from dbt_debezium.spark.java import check_java
from dbt_debezium.spark.java_output import start_java
from dbt_debezium.spark.local_files import use_plain_files
from dbt_debezium.spark.lost_catalog import check_catalog_file, remedy_of
from dbt_debezium.spark.remote import remote_session
from dbt_debezium.spark.site import (
    executors_python,
    is_embedded,
    is_remote,
    site_conf,
    site_defaults,
    with_parts,
)
from dbt_debezium.spark.targets import named_settings_of_target, spark_settings

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
        os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "conf")
    # It repeats each failed statement as one line of 10 to 30 kB.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


def check_lake(target: str | None = None) -> None:
    """Refuse to read a lake that is not there, which Spark would make.

    Raises:
        DebeziumError: the target's catalog is a file, and there is none, or it knows nothing of
            the tables that are there.
    """
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
