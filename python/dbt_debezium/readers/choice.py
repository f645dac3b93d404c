"""Which engine reads the lake of a target."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers import Reader
from dbt_debezium.readers.duckdb_reader import DuckdbReader, is_installed
from dbt_debezium.readers.file_places import FilePlaces
from dbt_debezium.readers.places import Places
from dbt_debezium.readers.rest_places import RestPlaces
from dbt_debezium.spark.catalogs import CATALOGS, SQLITE, catalog_of
from dbt_debezium.spark.lost_catalog import check_catalog_file
from dbt_debezium.spark.session import spark_session
from dbt_debezium.spark.site import site_defaults
from dbt_debezium.spark.targets import settings_of_target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Engine = Literal["auto", "duckdb", "spark"]
USE_SPARK: Final = "use --engine spark"
INSTALL: Final = "pip install dbt-debezium"


class NotForDuckdbError(DebeziumError):
    """What keeps DuckDB from reading a lake that Spark can read."""

    def __init__(self, why: str, remedy: str | None = None) -> None:
        """Say it.

        Args:
            why: what is in the way.
            remedy: what would let DuckDB read it; None if nothing does.
        """
        self.why = why
        self.remedy = f"{remedy}, or " if remedy else ""
        """To be followed by what else would help."""
        super().__init__(f"duckdb: {why}; {self.remedy}{USE_SPARK}")


def reader_of(
    target: str | None, schema: str, engine: Engine, tell: Callable[[str], None]
) -> Reader:
    """What reads the lake of a target: DuckDB where it can, else Spark.

    Args:
        target: of profiles.yml.
        schema: the schema that models are built in.
        engine: `auto`, or the one that a person wants.
        tell: takes what is being done.

    Raises:
        DebeziumError: the catalog cannot be opened, or DuckDB is wanted and cannot read the lake.
    """
    if engine != "spark":
        try:
            return duckdb_reader(target, schema)
        except NotForDuckdbError:
            if engine == "duckdb" or not has_spark():
                raise
    tell("starting Spark")
    return spark_reader(spark_session(target))


def spark_reader(session: "SparkSession") -> Reader:
    """Spark for a lake: what reads with DuckDB needs nothing of it, and does not import it."""
    from dbt_debezium.readers.spark_reader import SparkReader

    return SparkReader(session)


def has_spark() -> bool:
    """Whether what `dbt-debezium[spark]` installs is there."""
    return all(find_spec(name) for name in ("pyspark", "dbt"))


def reader_at_hand(session: "SparkSession | None", target: str | None, schema: str) -> Reader:
    """What reads the lake of a target without starting Spark.

    Args:
        session: of this process, if it has one.
        target: of profiles.yml.
        schema: the schema that models are built in.

    Raises:
        DebeziumError: there is no session, and DuckDB cannot read the lake.
    """
    if session is not None:
        return spark_reader(session)
    try:
        return duckdb_reader(target, schema)
    except NotForDuckdbError as error:
        raise DebeziumError(
            f"duckdb: {error.why}, and nothing has started Spark; {error.remedy}wait for news"
        ) from error


def duckdb_reader(target: str | None, schema: str) -> DuckdbReader:
    """DuckDB for the lake of a target.

    Raises:
        DebeziumError: the catalog cannot be opened.
        NotForDuckdbError: DuckDB is not installed, or only Java can read this lake.
    """

    return DuckdbReader(duckdb_places(target, schema), schema)


def duckdb_places(target: str | None, schema: str) -> Places:
    """The catalog of a target that DuckDB can read; arguments and errors as `duckdb_reader`."""
    return duckdb_places_of(settings_of_target(target), schema)


def duckdb_places_of(settings: Mapping[str, Any] | None, schema: str) -> Places:
    """The catalog that the settings of a target name; None if only dbt can render them."""

    if not is_installed():
        raise NotForDuckdbError("it is not installed", INSTALL)
    if settings is None:
        raise NotForDuckdbError("only dbt can read this target of profiles.yml")
    return places_of({**site_defaults(), **settings}, schema)


def places_of(settings: Mapping[str, Any], schema: str) -> Places:
    """The catalog of a target.

    Args:
        settings: of its Spark, completed.
        schema: the schema that models are built in.

    Raises:
        DebeziumError: the catalog cannot be opened.
        NotForDuckdbError: it is neither a file of SQLite nor REST, or only Java opens its files.
    """

    catalog = catalog_of(settings)
    name, uri = catalog["name"], catalog.get("uri", "")
    if uri.startswith(SQLITE) and Path(catalog.get("warehouse", "")).is_absolute():
        check_catalog_file(settings)
        return FilePlaces(Path(uri.removeprefix(SQLITE)), name)
    if catalog.get("type") != "rest":
        raise NotForDuckdbError(
            f"the catalog {name} is neither a file of SQLite with its tables on this machine nor a "
            "REST catalog"
        )
    if not uri:
        raise DebeziumError(
            f"catalog: {CATALOGS}{name}.uri is not set; name the address of the catalog "
            "(docs/cluster.md)"
        )
    prefix = f"{CATALOGS}{name}."
    properties = {
        key.removeprefix(prefix): str(one)
        for key, one in settings.items()
        if key.startswith(prefix)
    }
    places = RestPlaces(name, properties)
    # One table stands for all. Before the first run only messages are there.
    known = ((schema, "cut"), ("landing", "message"))
    first = next((one for one in known if one[1] in places.tables(one[0])), None)
    if first and not places.opens(*first):
        raise NotForDuckdbError(
            f"files of the catalog {name} are opened by what only Java finds",
            "name s3.access-key-id and s3.secret-access-key in profiles.yml",
        )
    return places
