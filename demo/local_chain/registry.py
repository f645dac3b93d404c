"""Apicurio's schema registry, which speaks Confluent's API too. It keeps its schemas in memory."""

import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dbt_debezium.spark.java import check_java
from local_chain.connect import CONVERTERS
from local_chain.java import FAST_START, chain_jars, fetch_chain_jars
from local_chain.server import HOST, free_port, listens, running

MEMORY = "384m"


@dataclass(frozen=True, slots=True)
class SchemaRegistry:
    """A registry that runs."""

    root: str

    @property
    def confluent(self) -> str:
        """The address of Confluent's API."""
        return f"{self.root}/apis/ccompat/v7"

    def converter(self) -> dict[str, str]:
        """Settings of a connector: Avro, with the number of its schema as Confluent writes it."""
        settings = {
            "": CONVERTERS["avro"],
            ".apicurio.registry.url": f"{self.root}/apis/registry/v2",
            ".apicurio.registry.auto-register": "true",
            ".apicurio.registry.headers.enabled": "false",
            ".apicurio.registry.as-confluent": "true",
            ".apicurio.registry.use-id": "contentId",
        }
        return {
            f"{part}.converter{name}": value
            for part in ("key", "value")
            for name, value in settings.items()
        }


@contextmanager
def schema_registry(folder: Path) -> Iterator[SchemaRegistry]:
    """Run a registry.

    Args:
        folder: for the program and its log; it does not exist.
    """
    fetch_chain_jars("registry")
    (archive,) = chain_jars("registry")
    with tarfile.open(archive.path) as packed:
        packed.extractall(folder, filter="data")
    (program,) = folder.glob("*-runner.jar")
    port = free_port()
    registry = SchemaRegistry(f"http://{HOST}:{port}")
    command: list[str | Path] = [
        *(check_java(), f"-Xmx{MEMORY}", *FAST_START, f"-Dquarkus.http.host={HOST}"),
        *(f"-Dquarkus.http.port={port}", "-jar", program),
    ]
    with running(command, folder / "registry.log", lambda: listens(port) and _answers(registry)):
        yield registry


def _answers(registry: SchemaRegistry) -> bool:
    try:
        with urllib.request.urlopen(f"{registry.confluent}/subjects", timeout=2):
            return True
    except OSError:
        return False
