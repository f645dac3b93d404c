"""The session of Spark that a process of `run` has."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class OneSession:
    """A session that is started when it is needed, and then kept."""

    def __init__(self, target: str | None) -> None:
        self.target = target
        """Of profiles.yml."""
        self._opened: SparkSession | None = None

    @property
    def has_started(self) -> bool:
        """Whether the session was started."""
        return self._opened is not None

    def start(self) -> "SparkSession":
        """The session; started if this is the first call.

        Raises:
            DebeziumError: Java, a jar, the profile or the catalog is not as it must be.
        """
        if self._opened is None:
            from dbt_debezium.spark.session import spark_session

            self._opened = spark_session(self.target)
        return self._opened

    def alive(self) -> "SparkSession | None":
        """The session, if it was started and its Java process or server has not ended."""
        if self._opened is None:
            return None
        from dbt_debezium.rounds.java_process import has_ended

        return None if has_ended() else self._opened
