"""Moving `main` of all tables to what their branches hold, in one transaction if possible."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
from py4j.java_gateway import is_instance_of  # type: ignore[import-untyped] # it has no types
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException, UnsupportedOperationException

from dbt_debezium.errors import DebeziumError, innermost
from dbt_debezium.maintenance.tables import BRANCH
from dbt_debezium.public_tables.table import SHOWN, Call, Written, plain_table, written
from dbt_debezium.public_tables.write import write_more
from dbt_debezium.spark.catalogs import DEFAULT_CATALOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UPDATE: Final = (
    "update iceberg_tables set metadata_location = ?, previous_metadata_location = ? "
    "where catalog_name = ? and table_namespace = ? and table_name = ? and metadata_location = ?"
)
"""As Iceberg's JDBC catalog commits; it can do so for one table at a time only."""


class ChangedError(Exception):
    """A table is not as this run has found it."""


REFUSED: Final = (Py4JError, PySparkException, ChangedError)
"""PySpark has errors of its own for some of Java's, also where no SQL is run."""


@dataclass(frozen=True, slots=True)
class Move:
    """One table's part of the transaction."""

    name: str
    operations: Any
    base: Any
    """Its metadata, which nobody may have replaced meanwhile."""
    updated: Any


def move(spark: "SparkSession", call: Call) -> str:
    """Have readers of the tables see the new cut, which the pointer shows by now.

    Args:
        call: tables that are to be written first, as they show the pointer itself.

    Returns:
        A line if the catalog can only move one table after another.

    Raises:
        DebeziumError: another run has written to a table, or the catalog refuses.
    """
    write_more(spark, call)
    try:
        moves = [_prepared(spark, call, written[name]) for name in sorted(written)]
        is_one = _commit(spark, call.schema, moves)
    except REFUSED as error:
        raise DebeziumError(
            f"{call.schema}: its tables do not show the new commit, which the views show "
            f"({innermost(error)}); run again"
        ) from error
    finally:
        written.clear()
    if is_one or len(moves) < 2:
        return ""
    return (
        f"{call.schema}: this catalog moves one table after another, so for a moment readers "
        "could see two commits"
    )


def _prepared(spark: "SparkSession", call: Call, one: Written) -> Move:
    table = plain_table(spark, call, one.name)
    assert table is not None, one.name
    operations = table.operations()
    base = operations.refresh()
    _require(base.currentSnapshot().snapshotId() == one.before, one.name)
    jvm: Any = spark._jvm
    properties = jvm.java.util.HashMap()
    properties.put(SHOWN, msgspec.json.encode(one.shown).decode())
    builder = jvm.org.apache.iceberg.TableMetadata.buildFrom(base)
    builder = builder.setBranchSnapshot(one.after, "main").removeRef(BRANCH)
    return Move(one.name, operations, base, builder.setProperties(properties).build())


def _require(is_unchanged: bool, name: str) -> None:
    if not is_unchanged:
        raise ChangedError(f"another run has written to {name}")


def _commit(spark: "SparkSession", schema: str, moves: Sequence[Move]) -> bool:
    """Commit the moves; whether that was one transaction."""
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    util = jvm.org.apache.iceberg.spark.Spark3Util
    catalog = util.loadIcebergCatalog(spark._jsparkSession, spark.conf.get(DEFAULT_CATALOG))
    if is_instance_of(gateway, catalog, "org.apache.iceberg.jdbc.JdbcCatalog"):
        _commit_jdbc(jvm, gateway, catalog, schema, moves)
        return True
    if is_instance_of(gateway, catalog, "org.apache.iceberg.rest.RESTCatalog"):
        try:
            _commit_rest(jvm, gateway, catalog, schema, moves)
        except UnsupportedOperationException:
            pass
        else:
            return True
    for one in moves:
        one.operations.commit(one.base, one.updated)
    return False


def _commit_rest(jvm: Any, gateway: Any, catalog: Any, schema: str, moves: Sequence[Move]) -> None:
    commits = jvm.java.util.ArrayList()
    for one in moves:
        names = gateway.new_array(jvm.java.lang.String, 2)
        names[0], names[1] = schema, one.name
        identifier = jvm.org.apache.iceberg.catalog.TableIdentifier.of(names)
        commits.add(
            jvm.org.apache.iceberg.catalog.TableCommit.create(identifier, one.base, one.updated)
        )
    if moves:
        catalog.commitTransaction(commits)


def _commit_jdbc(jvm: Any, gateway: Any, catalog: Any, schema: str, moves: Sequence[Move]) -> None:
    connection = _connection(jvm, gateway, catalog)
    try:
        connection.setAutoCommit(False)
        statement = connection.prepareStatement(UPDATE)
        for one in moves:
            before, after = one.base.metadataFileLocation(), _write_metadata(jvm, one)
            values = (after, before, catalog.name(), schema, one.name, before)
            for place, value in enumerate(values, 1):
                statement.setString(place, value)
            _require(statement.executeUpdate() == 1, one.name)
        connection.commit()
    except REFUSED:
        connection.rollback()
        raise
    finally:
        connection.close()
    for one in moves:
        io = one.operations.io()
        jvm.org.apache.iceberg.CatalogUtil.deleteRemovedMetadataFiles(io, one.base, one.updated)


def _connection(jvm: Any, gateway: Any, catalog: Any) -> Any:
    """A connection of its own to the catalog's database, which Iceberg keeps to itself."""
    pools = catalog.getClass().getDeclaredField("connections")
    pools.setAccessible(True)
    pool = pools.get(catalog)
    none = gateway.new_array(jvm.java.lang.Class, 0)
    connect = pool.getClass().getDeclaredMethod("newClient", none)
    connect.setAccessible(True)
    return connect.invoke(pool, gateway.new_array(jvm.java.lang.Object, 0))


def _write_metadata(jvm: Any, one: Move) -> str:
    """Write a metadata file that no catalog names yet, and return where it is."""
    parser = jvm.org.apache.iceberg.TableMetadataParser
    codec = one.updated.property("write.metadata.compression-codec", "none")
    version = f"{one.operations.currentVersion() + 1:05d}-{uuid.uuid4()}"
    path = one.operations.metadataFileLocation(f"{version}{parser.getFileExtension(codec)}")
    parser.write(one.updated, one.operations.io().newOutputFile(path))
    return str(path)
