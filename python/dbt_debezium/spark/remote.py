"""Spark that runs elsewhere, and is asked through Spark Connect.

There is no Java beside such a session, so neither Spark's nor Iceberg's Java library can be asked.
"""

import atexit
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark.catalogs import REMOTE, without_parameters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSIONS: Final = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
SECONDS: Final = 20.0
"""How long a server may take to answer."""


def has_java(spark: "SparkSession") -> bool:
    """Whether the session is none of Spark Connect, so that py4j reaches its Java process."""
    return not type(spark).__module__.startswith("pyspark.sql.connect.")


def remote_session(settings: Mapping[str, Any]) -> "SparkSession":
    """The session that this process has on a server of Spark Connect.

    Args:
        settings: completed ones. Those that only a server can have are left to it.

    Raises:
        DebeziumError: the server does not answer, runs another Spark or lacks Iceberg, or this
            Python lacks the packages of a client.
    """
    import pyspark

    address = without_parameters(str(settings[REMOTE]))
    try:
        from pyspark.sql.connect.session import SparkSession as RemoteSession
    except ImportError as error:
        raise DebeziumError(
            f"spark: {address} cannot be asked ({str(error).strip().splitlines()[0]}); "
            "install the packages of a client: pip install 'pyspark[connect]'"
        ) from error
    is_new = RemoteSession._get_default_session() is None
    if is_new:
        _reach(str(settings[REMOTE]))
    spark = pyspark.sql.SparkSession.builder.config(map=dict(settings)).getOrCreate()
    if is_new:
        # Else the server would keep the session, and a statement that Ctrl-C has left.
        atexit.register(spark.stop)
        try:
            _check_server(spark, address)
        except DebeziumError:
            # Another round would find the session and work with it.
            spark.stop()
            raise
    return spark


def has_lost_session() -> bool:
    """Whether a server knows the session of this process no longer, or does not answer."""
    from pyspark.errors import PySparkException

    connect = sys.modules.get("pyspark.sql.connect.session")
    session = connect.SparkSession._get_default_session() if connect else None
    if session is None:
        return False
    try:
        return not session.version
    except PySparkException:
        return True


def _reach(url: str) -> None:
    """Refuse an address at which no server answers: Spark's client would try for ten minutes."""
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    address = without_parameters(url)
    try:
        builder = DefaultChannelBuilder(url)
    except ValueError as error:
        raise DebeziumError(
            f"spark: {address} is no address of Spark Connect; "
            "write sc://host:port, or sc://host:port/;name=value with parameters"
        ) from error
    host, _, port = builder.endpoint.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), SECONDS).close()
    except OSError as error:
        raise DebeziumError(
            f"spark: {address} cannot be reached ({error.strerror or error}); "
            "start its server, or name another one in DBT_DEBEZIUM_REMOTE"
        ) from error
    channel = builder.toChannel()
    try:
        grpc.channel_ready_future(channel).result(SECONDS)
    except grpc.FutureTimeoutError as error:
        raise DebeziumError(
            f"spark: what listens at {address} is no server of Spark Connect, or one that needs "
            "`;use_ssl=true`; correct DBT_DEBEZIUM_REMOTE"
        ) from error
    finally:
        channel.close()


def _check_server(spark: "SparkSession", address: str) -> None:
    import pyspark

    if _minor(spark.version) != _minor(pyspark.__version__):
        raise DebeziumError(
            f"spark: {address} runs Spark {spark.version}, and PySpark here is "
            f"{pyspark.__version__}; both must be of one minor version"
        )
    if EXTENSIONS not in str(spark.conf.get("spark.sql.extensions", "")):
        raise DebeziumError(
            f"spark: {address} runs without Iceberg's extensions of SQL; name them in its "
            "spark-defaults.conf, as docs/cluster.md shows"
        )


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
