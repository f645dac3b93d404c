"""The jars Spark needs beyond its own: which, and how they get here."""

import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import jars_dir
from dbt_debezium.spark.java import check_java


@dataclass(frozen=True, slots=True)
class Jar:
    """One artifact of Maven Central, pinned to its content."""

    group: str
    artifact: str
    version: str
    sha256: str
    folder: str = ""
    """Below the jars folder. The target `local` loads what is in the jars folder itself, and before
    Spark's own jars."""

    @property
    def file_name(self) -> str:
        """Where it is in the jars folder, under the name that it has in Maven Central."""
        return str(Path(self.folder, f"{self.artifact}-{self.version}.jar"))


JARS = (
    Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-4.1_2.13",
        "1.12.0",
        "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    ),
    Jar(
        "org.xerial",
        "sqlite-jdbc",
        "3.50.3.0",
        "a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08",
    ),
    # Spark's Kafka source and what it needs; its own list names a version that nobody published.
    Jar(
        "org.apache.spark",
        "spark-sql-kafka-0-10_2.13",
        "4.1.3",
        "cb31ffd9c8f5527dba061db8af671d295562092e4f3f5ff42fc249fab8a8fde6",
    ),
    Jar(
        "org.apache.spark",
        "spark-token-provider-kafka-0-10_2.13",
        "4.1.1",
        "e510adc37b03d01d0a190d0dab472b5538e05eaa77454f7e9477156d7a6820ae",
    ),
    Jar(
        "org.apache.kafka",
        "kafka-clients",
        "3.9.1",
        "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
    ),
    Jar(
        "org.apache.commons",
        "commons-pool2",
        "2.12.1",
        "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
    ),
    # Files of a folder without a process of `chmod` for each.
    Jar(
        "com.globalmentor",
        "hadoop-bare-naked-local-fs",
        "0.1.0",
        "e0cc30fb0531eb0b59468dc0abf5b257533d2365b5e9f45e795edd707aa78c62",
    ),
)
STORES = {
    "s3": Jar(
        "org.apache.iceberg",
        "iceberg-aws-bundle",
        "1.12.0",
        "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957",
    ),
    # The newest that could be fetched where this was tested. It has none of Iceberg's classes, but
    # another Arrow than Spark.
    "gcs": Jar(
        "org.apache.iceberg",
        "iceberg-gcp-bundle",
        "1.11.0",
        "d9248fc76d94d232e153bf760631229cd3b7c6bc3b20f47d4b2caffe011a8a2f",
        folder="gcs",
    ),
}
"""Clients of object stores, by what DBT_DEBEZIUM_STORE may say."""


def needed_jars() -> tuple[Jar, ...]:
    """What this environment needs.

    Raises:
        DebeziumError: DBT_DEBEZIUM_STORE names a store that is not known.
    """
    store = os.environ.get("DBT_DEBEZIUM_STORE")
    if not store:
        return JARS
    if store not in STORES:
        raise DebeziumError(
            f"jars: DBT_DEBEZIUM_STORE is {store}, for which there is no pinned jar; "
            f"known: {', '.join(STORES)}; name the jars of others in DBT_DEBEZIUM_SPARK_JARS"
        )
    return (*JARS, STORES[store])


def check_jars() -> None:
    """Refuse to continue without the jars; `fetch_jars` checks whether they are the right ones.

    Raises:
        DebeziumError: a jar is absent.
    """
    folder = jars_dir()
    for jar in needed_jars():
        if not (folder / jar.file_name).is_file():
            raise DebeziumError(
                f"jars: {jar.file_name} is not in {folder}; run `dbt-debezium jars`"
            )


def wrong_jars() -> list[str]:
    """File names of jars that are absent or not the pinned ones."""
    folder = jars_dir()
    return [jar.file_name for jar in needed_jars() if not _is_right(folder / jar.file_name, jar)]


def fetch_jars() -> list[Path]:
    """Bring the jars that are absent or not the pinned ones, and return those.

    Raises:
        DebeziumError: a jar cannot be fetched, or what came is not the pinned one.
    """
    folder = jars_dir()
    names = wrong_jars()
    wanted = [jar for jar in needed_jars() if jar.file_name in names]
    if wanted:
        java = check_java()
        folder.mkdir(parents=True, exist_ok=True)
        # Inside the folder, so that the rename that ends it stays on one file system.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
            for jar in wanted:
                fetched = _fetch(java, jar, Path(work))
                (folder / jar.folder).mkdir(exist_ok=True)
                os.replace(fetched, folder / jar.file_name)
    return [folder / jar.file_name for jar in wanted]


def _is_right(path: Path, jar: Jar) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256


def _fetch(java: Path, jar: Jar, work: Path) -> Path:
    """Fetch with the Ivy inside pyspark; its default settings know Maven Central."""
    fetched = work / Path(jar.file_name).name
    subprocess.run(
        [
            *(java, "-jar", ivy_jar(), "-cache", work / "cache"),
            *("-dependency", jar.group, jar.artifact, jar.version),
            # `master` is the artifact without what it depends on: both jars bring their own.
            *("-confs", "master", "-retrieve", work / "[artifact]-[revision].[ext]"),
        ],
        capture_output=True,
        check=False,
    )
    where = f"{jar.group}:{jar.artifact}:{jar.version}"
    if not fetched.is_file():
        raise DebeziumError(
            f"jars: {where} could not be fetched from Maven Central; "
            f"check the network, or put {jar.file_name} into {jars_dir()} by hand"
        )
    if not _is_right(fetched, jar):
        raise DebeziumError(
            f"jars: {where} came with another content than the pinned SHA-256 {jar.sha256}; "
            "do not use it, and find out what stands between here and Maven Central"
        )
    return fetched


def ivy_jar() -> Path:
    """The Ivy inside pyspark, which fetches from Maven Central."""
    import pyspark

    return next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
