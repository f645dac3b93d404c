"""A catalog or a store that does not answer or refuses us, in what Java says of a statement.

Java names the library that failed, and that tells the two apart: Iceberg's exceptions are of the
REST catalog, and those of Amazon's library are of the store.
"""

import re
from typing import TYPE_CHECKING, Final

from dbt_debezium.addresses import without_passwords
from dbt_debezium.errors import DebeziumError, innermost
from dbt_debezium.spark.catalogs import CATALOGS, DEFAULT_CATALOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONGEST: Final = 300
"""Characters of what others say."""
THROWN: Final = re.compile(
    r"(?:^|(?<!Suppressed): |\()((?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error))"
    r"(?=(?:: |\) )([^\n]*)|)",
    re.MULTILINE,
)
"""An exception of Java and its message, as a stack trace or Spark Connect has them.

The message of a job that failed names the exception of its task on the same line.
"""
CATALOG: Final = re.compile(
    r"org\.apache\.iceberg\.exceptions\."
    r"(REST|NotAuthorized|Forbidden|ServiceFailure|ServiceUnavailable)Exception"
)
STORE: Final = re.compile(r"software\.amazon\.awssdk\.(core|services\.s3)\.")
ABSENT: Final = re.compile(r"\.NoSuchKeyException$")
"""A file that is not there: the store has answered."""
REQUEST: Final = re.compile(r", (Extended )?Request ID: [^,)\s]+")
"""Another one each time."""


def outage_of(error: Exception, spark: "SparkSession | None" = None) -> DebeziumError | None:
    """What a user can mend, if a catalog or a store is why Spark has failed.

    Args:
        error: one of Spark or py4j.
        spark: the session that failed; by default the active one.
    """
    sentence = outage_sentence(_text(error), spark)
    return DebeziumError(sentence) if sentence else None


def spark_sentence(command: str, error: Exception) -> str:
    """The sentence for an error of Spark or py4j that ended a command."""
    outage = outage_of(error)
    return str(outage) if outage else f"{command}: Spark: {innermost(error)}"


def outage_sentence(text: str, spark: "SparkSession | None" = None) -> str | None:
    """What a user can mend, by what Java says; None where neither is why.

    >>> outage_sentence(
    ...     "o1.sql.\\n: org.apache.iceberg.exceptions.RESTException: Error\\n\\tat a.B.c\\n"
    ...     "Caused by: java.net.ConnectException: Connection refused\\n"
    ... )
    'catalog: that of the lake cannot be used (Connection refused); check its address, whether it \
runs, and its credentials (docs/cluster.md), and run again'
    >>> task = "software.amazon.awssdk.core.exception.SdkClientException: Connect to a failed"
    >>> outage_sentence(f"org.apache.spark.SparkException: Lost task (driver): {task}")[:59]
    'store: that of the lake cannot be used (Connect to a failed'
    >>> outage_sentence("org.apache.iceberg.exceptions.CommitFailedException: Stale")
    """
    thrown = THROWN.findall(text)
    names = [name for name, _ in thrown]
    if any(map(ABSENT.search, names)):
        return None
    if any(map(STORE.match, names)):
        where = "store"
    elif any(map(CATALOG.match, names)):
        where = "catalog"
    else:
        return None
    address = _address(where, spark) or "that of the lake"
    return away_sentence(where, address, java_reason(text) or names[-1].rpartition(".")[2])


def away_sentence(where: str, address: str, reason: str) -> str:
    """That a server cannot be used.

    Args:
        where: catalog or store.
        address: its own.
        reason: what it says, or what says that it is silent.
    """
    checked = "keys" if where == "store" else "credentials"
    return without_passwords(
        f"{where}: {address} cannot be used ({reason}); check its address, whether it "
        f"runs, and its {checked} (docs/cluster.md), and run again"
    )


def java_reason(text: str) -> str | None:
    """The message at the bottom of Java's causes; None where the text has none.

    >>> java_reason("o1.sql.\\n: a.OneException: this\\n\\tat a.B.c\\nCaused by: a.AnError: that")
    'that'
    >>> java_reason("a.OneException: denied\\n\\tSuppressed: a.AnException: attempt 1 failed")
    'denied'
    """
    messages = [message for _, message in THROWN.findall(text) if message.strip()]
    return REQUEST.sub("", messages[-1]).strip()[:LONGEST] if messages else None


def _text(error: Exception) -> str:
    """All that Java says of an error: PySpark's own exceptions leave the causes out."""
    lines = [str(error)]
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while java is not None:
        lines.append(java.toString())
        java = java.getCause()
    return "\n".join(lines)


def _address(where: str, spark: "SparkSession | None") -> str | None:
    """Of the catalog or the store of a session; None where only a server knows it."""
    from pyspark.sql import SparkSession

    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        return None
    prefix = f"{CATALOGS}{spark.conf.get(DEFAULT_CATALOG, 'spark_catalog')}"
    for name in ("s3.endpoint", "warehouse") if where == "store" else ("uri",):
        if address := spark.conf.get(f"{prefix}.{name}", None):
            return address
    return None
