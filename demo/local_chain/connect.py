"""Kafka Connect, distributed, with the connectors of Debezium."""

import json
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_chain.java import class_path_dir, fetch_chain_jars, java_command
from local_chain.server import HOST, ChainError, Server, free_port, listens, wait_until

MEMORY = "512m"
CONVERTERS = {"avro": "io.apicurio.registry.utils.converter.AvroConverter"}
"""It does not list itself as a service, and Connect would take minutes to look at all classes."""
CONVERTER_SERVICE = "META-INF/services/org.apache.kafka.connect.storage.Converter"
TOPICS = "connect-"
"""What the names of the topics begin with in which Connect keeps its own state."""


@dataclass(slots=True)
class Connect:
    """A worker, by its REST interface and its process."""

    url: str
    _server: Server | None = None

    def is_ready(self) -> bool:
        """Whether the worker takes connectors."""
        try:
            self._ask("GET", "/connectors")
        except (ChainError, OSError):
            return False
        return True

    def create(self, name: str, config: Mapping[str, str]) -> None:
        """Start a connector, and wait until its task runs.

        Raises:
            ChainError: Connect refuses the settings, or the task fails.
        """
        self._ask("PUT", f"/connectors/{name}/config", dict(config))
        wait_until(lambda: self._state(name) == "RUNNING", lambda: self._failure(name))

    def check(self, name: str) -> None:
        """Raise what the connector failed with since, if it did.

        Raises:
            ChainError: the task has failed.
        """
        failure = self._failure(name)
        if failure is not None:
            raise ChainError(failure)

    def delete(self, name: str) -> None:
        """Stop a connector and forget its settings; Connect keeps its offsets."""
        self._ask("DELETE", f"/connectors/{name}")

    def kill(self) -> None:
        """Kill the worker at once: what it has sent and not noted, it sends again."""
        assert self._server
        self._server.kill()

    def start_again(self, name: str) -> None:
        """Start a worker that was killed, and wait until the task of a connector runs.

        Raises:
            ChainError: it does not start, or the task fails.
        """
        assert self._server
        self._server.start()
        wait_until(lambda: self._state(name) == "RUNNING", lambda: self._failure(name))

    def _state(self, name: str) -> str | None:
        tasks = self._status(name).get("tasks") or [{}]
        state: str | None = tasks[0].get("state")
        return state

    def _failure(self, name: str) -> str | None:
        status = self._status(name)
        for part in (status.get("connector", {}), *status.get("tasks", ())):
            if part.get("state") == "FAILED":
                return f"{name}: failed; {part.get('trace', '')[:2000]}"
        return None

    def _status(self, name: str) -> dict[str, Any]:
        try:
            status: dict[str, Any] = self._ask("GET", f"/connectors/{name}/status")
        except (ChainError, OSError):
            return {}  # not known yet
        return status

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")
            raise ChainError(
                f"connect: {method} {path} came back as {error.code}; {said}"
            ) from error
        return json.loads(text) if text else None


@contextmanager
def connect(
    folder: Path, bootstrap: str, plugins: Sequence[str], *, exactly_once: bool = False
) -> Iterator[Connect]:
    """Run a worker.

    Args:
        folder: a folder for its settings and log, which does not exist.
        bootstrap: the broker's address.
        plugins: the connectors and converters that it has, as folders of `jars.txt`.
        exactly_once: whether each batch of a source is one transaction of Kafka.
    """
    port = free_port()
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "connect",
        "listeners": f"HTTP://{HOST}:{port}",
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "config.storage.topic": TOPICS + "configs",
        "config.storage.replication.factor": 1,
        "offset.storage.topic": TOPICS + "offsets",
        "offset.storage.replication.factor": 1,
        "offset.storage.partitions": 1,
        "offset.flush.interval.ms": 1000,
        "status.storage.topic": TOPICS + "status",
        "status.storage.replication.factor": 1,
        "status.storage.partitions": 1,
        "scheduled.rebalance.max.delay.ms": 0,
        # A worker that starts again waits so long for the one that was killed.
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 2000,
        "exactly.once.source.support": "enabled" if exactly_once else "disabled",
        "plugin.path": folder / "plugins",
        "plugin.discovery": "service_load",
    }
    folder.mkdir()
    config = folder / "worker.properties"
    config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    fetch_chain_jars("kafka", *plugins)
    link_plugins(folder / "plugins", plugins)
    main_class = "org.apache.kafka.connect.cli.ConnectDistributed"
    worker = Connect(f"http://{HOST}:{port}")
    server = worker._server = Server(
        java_command("kafka", MEMORY, main_class, config),
        folder / "connect.log",
        lambda: listens(port) and worker.is_ready(),
    )
    try:
        server.start()
        yield worker
    finally:
        server.end()


def link_plugins(folder: Path, plugins: Sequence[str]) -> None:
    """Show Connect these plugins alone, since it looks into each that there is."""
    folder.mkdir()
    for plugin in plugins:
        linked = folder / plugin
        linked.mkdir()
        for jar in class_path_dir(plugin).absolute().glob("*.jar"):
            (linked / jar.name).symlink_to(jar)
        if plugin in CONVERTERS:
            with zipfile.ZipFile(linked / "services.jar", "w") as services:
                services.writestr(CONVERTER_SERVICE, f"{CONVERTERS[plugin]}\n")
