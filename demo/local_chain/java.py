"""The jars of the chain, pinned in `jars.txt`, and the commands that run them."""

import hashlib
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from dbt_debezium.home import jars_dir
from dbt_debezium.spark.jars import ivy_jar
from dbt_debezium.spark.java import check_java
from local_chain.server import ChainError

FAST_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


class ChainJar(NamedTuple):
    """One artifact of Maven Central, pinned to its content, and who needs it."""

    folder: str
    """`kafka` for the class path of broker and Connect, `registry`, else the plugin's."""
    group: str
    artifact: str
    version: str
    sha256: str
    classified: str = ".jar"
    """What follows the version in its name, as `-all.tar.gz`."""

    @property
    def path(self) -> Path:
        """Where it lies, or will."""
        return class_path_dir(self.folder) / f"{self.artifact}-{self.version}{self.classified}"

    def is_there(self) -> bool:
        """Whether it lies there with the pinned content."""
        if not self.path.is_file():
            return False
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256


def chain_jars_dir() -> Path:
    """Beside the jars that Spark needs, since they come the same way."""
    return jars_dir() / "live"


def class_path_dir(folder: str) -> Path:
    """Where the jars of Kafka or of the schema registry lie, or of a plugin of Connect."""
    return chain_jars_dir() / (folder if folder in ("kafka", "registry") else f"plugins/{folder}")


def chain_jars(*folders: str) -> list[ChainJar]:
    """The jars of some folders."""
    lines = (Path(__file__).parent / "jars.txt").read_text().splitlines()
    jars = [ChainJar(*line.split()) for line in lines if line and not line.startswith("#")]
    return [jar for jar in jars if jar.folder in folders]


def missing_jars(*folders: str) -> int:
    """How many jars of some folders must be fetched."""
    return sum(not jar.is_there() for jar in chain_jars(*folders))


def java_command(folder: str, memory: str, *arguments: str | Path) -> list[str | Path]:
    """A command that runs a class with the jars of a folder."""
    fetch_chain_jars(folder)
    class_path = f"{class_path_dir(folder)}/*"
    return [check_java(), f"-Xmx{memory}", *FAST_START, "-cp", class_path, *arguments]


@cache
def fetch_chain_jars(*folders: str) -> None:
    """Bring the jars that are absent or not the pinned ones, with the Ivy inside pyspark.

    Args:
        folders: those of `jars.txt` that are needed.

    Raises:
        ChainError: one cannot be fetched, or what came is not the pinned one.
    """
    wanted = [jar for jar in chain_jars(*folders) if not jar.is_there()]
    if not wanted:
        return
    chain_jars_dir().mkdir(parents=True, exist_ok=True)
    # Inside the folder, so that each rename stays on one file system.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=chain_jars_dir()) as work:
        _retrieve(Path(work), wanted)
        for jar in wanted:
            jar.path.parent.mkdir(parents=True, exist_ok=True)
            fetched = Path(work) / jar.folder / jar.path.name
            if fetched.is_file():
                os.replace(fetched, jar.path)
    for jar in wanted:
        if not jar.is_there():
            jar.path.unlink(missing_ok=True)
            raise ChainError(
                f"jars: {jar.group}:{jar.artifact}:{jar.version} did not come from Maven Central "
                f"with the pinned SHA-256 {jar.sha256}; check the network"
            )


def _retrieve(work: Path, wanted: list[ChainJar]) -> None:
    """Have Ivy fetch exactly these: each without what it depends on, as `jars.txt` has all."""
    folders = sorted({jar.folder for jar in wanted})
    configurations = "".join(f"<conf name={quoteattr(folder)}/>" for folder in folders)
    dependencies = "".join(
        f"<dependency org={quoteattr(jar.group)} name={quoteattr(jar.artifact)}"
        f' rev={quoteattr(jar.version)} transitive="false"'
        f" conf={quoteattr(f'{jar.folder}->master')}>{_artifact(jar)}</dependency>"
        for jar in wanted
    )
    module = work / "ivy.xml"
    module.write_text(
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="local" module="chain"/>'
        f"<configurations>{configurations}</configurations>"
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )
    subprocess.run(
        [
            *(check_java(), "-jar", ivy_jar(), "-cache", work / "cache", "-ivy", module),
            *("-retrieve", work / "[conf]" / "[artifact]-[revision](-[classifier]).[ext]"),
        ],
        capture_output=True,
        check=False,
    )


def _artifact(jar: ChainJar) -> str:
    """What Ivy must be told of an artifact that is no jar."""
    if jar.classified == ".jar":
        return ""
    classifier, _, kind = jar.classified.removeprefix("-").partition(".")
    return (
        f"<artifact name={quoteattr(jar.artifact)} type={quoteattr(kind)} ext={quoteattr(kind)}"
        f" m:classifier={quoteattr(classifier)}/>"
    )
