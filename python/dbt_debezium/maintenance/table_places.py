"""Where the tables of a lake may have their files: below its warehouse, each apart from all others.

A table says itself where its files are, and its catalog passes that on. So a run refuses a table
that is elsewhere, and maintenance deletes nothing in a folder that is not the table's alone.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from dbt_debezium.dbt_calls import called
from dbt_debezium.errors import DebeziumError
from dbt_debezium.maintenance.tables import lake_table
from dbt_debezium.spark.catalogs import CATALOGS, DEFAULT_CATALOG
from dbt_debezium.spark.remote import has_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAME_STORE: Final = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasbs": "wasb"}
"""Other schemes under which a store has the same files."""


def folder_of(location: str) -> str:
    """A folder in one spelling, with a slash at its end, so that a text begins with its parent's.

    Links of this machine are followed.

    >>> folder_of("s3a://bucket/lake/"), folder_of("s3://bucket/lake")
    ('s3://bucket/lake/', 's3://bucket/lake/')
    >>> folder_of("file:/lake/../other"), folder_of("file:///other"), folder_of("/other//")
    ('/other/', '/other/', '/other/')
    """
    scheme, colon, rest = location.partition(":")
    if not colon or "/" in scheme:
        return os.path.join(os.path.realpath(location), "")
    if scheme.lower() == "file":
        return os.path.join(os.path.realpath(f"/{rest.lstrip('/')}"), "")
    return f"{SAME_STORE.get(scheme.lower(), scheme.lower())}:{rest.rstrip('/')}/"


def is_below(folder: str, other: str) -> bool:
    """Whether a folder lies in another one and is not that one, both as `folder_of` spells them.

    >>> is_below("/lake/t/", "/lake/"), is_below("/lakes/t/", "/lake/"), is_below("/a/", "/a/")
    (True, False, False)
    >>> is_below("s3://bucket/lake/../t/", "s3://bucket/lake/")
    False
    """
    # A store may take dots for names or for steps.
    return folder != other and folder.startswith(other) and not {".", ".."} & {*folder.split("/")}


def meets(folder: str, other: str) -> bool:
    """Whether one of two folders is or contains the other.

    >>> meets("/lake/t/", "/lake/t/data/"), meets("/lake/t/", "/lake/t2/")
    (True, False)
    """
    return folder.startswith(other) or other.startswith(folder)


def parent_of(folder: str) -> str:
    """The folder that a folder lies in.

    >>> parent_of("s3://bucket/lake/t/")
    's3://bucket/lake/'
    """
    return folder.rstrip("/").rpartition("/")[0] + "/"


def warehouse_of(settings: Mapping[str, str]) -> str | None:
    """The folder of a catalog that puts tables where its setting says; None if a server decides.

    Args:
        settings: those of the catalog, without `spark.sql.catalog.<name>.` in front.

    >>> warehouse_of({"type": "jdbc", "warehouse": "s3a://bucket/lake"})
    's3://bucket/lake/'
    >>> warehouse_of({"type": "rest", "warehouse": "shop"})
    """
    named = settings.get("warehouse", "")
    return folder_of(named) if named and settings.get("type") in ("jdbc", "hadoop") else None


def warehouse(spark: "SparkSession", anchors: Iterable[str]) -> str | None:
    """The folder below which a lake has its tables.

    Args:
        spark: a session on the lake.
        anchors: folders of `landing.message` and of the pointer, for a catalog whose server decides
            where tables are: all others lie beside these two.

    Returns:
        None if nothing says it.
    """
    catalog = f"{CATALOGS}{spark.conf.get(DEFAULT_CATALOG)}"
    names = ("type", "warehouse")
    settings = {name: str(spark.conf.get(f"{catalog}.{name}", "") or "") for name in names}
    if named := warehouse_of(settings):
        return named
    parents = [parent_of(one) for one in anchors]
    return common_folder(parents) if len(parents) > 1 else None


def common_folder(folders: Iterable[str]) -> str:
    """The deepest folder that contains all of these.

    >>> common_folder(["s3://bucket/lake/landing/", "s3://bucket/lake/build/"])
    's3://bucket/lake/'
    """
    steps = zip(*(one.rstrip("/").split("/") for one in folders), strict=False)
    return "/".join(one[0] for one in takewhile(lambda step: len({*step}) == 1, steps)) + "/"


def step_of(statement: str) -> "Callable[[SparkSession], None] | None":
    """The check that a statement of dbt's asks for; None if it is one for Spark."""
    name, argument = called(statement)
    if name != "check_table_places":
        return None
    import msgspec

    locations = msgspec.json.decode(argument, type=dict[str, list[str]])
    return lambda spark: check_places(spark, locations)


def check_places(spark: "SparkSession", locations: Mapping[str, Sequence[str]]) -> None:
    """Refuse tables whose files are not below the warehouse.

    Args:
        spark: a session on the lake.
        locations: by table, as `schema.table`. Of several, one is meant.

    Raises:
        DebeziumError: there is one.
    """
    places = {name: folders_among(spark, name, some) for name, some in sorted(locations.items())}
    anchors = [some[0] for name, some in places.items() if name.endswith((".cut", ".message"))]
    base = warehouse(spark, anchors)
    for name, folders in places.items():
        for folder in folders:
            if base is not None and not is_below(folder, base):
                raise DebeziumError(f"{name}: {elsewhere(folder, base)}; {remedy_of(name)}")


def folders_among(spark: "SparkSession", table: str, locations: Sequence[str]) -> list[str]:
    """The folder of a table, as Iceberg says it if there are several; all of them without Java."""
    if len(locations) > 1 and has_java(spark):
        found = lake_table(spark, table)
        locations = [str(found.iceberg.location())] if found else []
    return [folder_of(one) for one in locations]


def elsewhere(folder: str, base: str) -> str:
    """What is wrong with a table outside of its warehouse."""
    return f"its files are in {folder.rstrip('/')}, outside of the warehouse {base.rstrip('/')}"


def remedy_of(table: str) -> str:
    """What mends a table whose folder is not its own.

    >>> remedy_of("build.orders_history")
    'drop the table in a Spark session, and run once with --full-refresh'
    """
    if table.startswith("landing."):
        # Nothing else has its rows.
        return "copy its rows into a table of its name below the warehouse"
    return "drop the table in a Spark session, and run once with --full-refresh"
