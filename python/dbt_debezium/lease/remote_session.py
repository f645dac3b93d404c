"""No statement of a killed run that still writes, at a server of Spark Connect."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.spark.remote import has_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SESSION_NAME: Final = "connect.session"


def end_earlier_session(spark: "SparkSession", lake: Path) -> None:
    """End the session with which a process of this machine wrote to a lake before.

    A server goes on with the statement of a process that was killed, for five minutes by default.

    Args:
        spark: the session that is to write; nothing is done for one with a Java process beside it.
        lake: the folder whose lock this process holds.
    """
    if has_java(spark):
        return
    from pyspark.sql.connect.proto import ReleaseSessionRequest

    client: Any = spark._client  # type: ignore[attr-defined] # of sessions of Spark Connect
    path = lake / SESSION_NAME
    with contextlib.suppress(FileNotFoundError):
        earlier = path.read_text()
        if earlier == client._session_id:
            return
        request = ReleaseSessionRequest(session_id=earlier, client_type=client._builder.userAgent)
        if client._user_id:
            request.user_context.user_id = client._user_id
        client._stub.ReleaseSession(request, metadata=client._builder.metadata())
    path.write_text(client._session_id)
