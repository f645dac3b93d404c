"""All parts of a chain, started in order and ended in reverse."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from local_chain.broker import broker
from local_chain.connect import Connect, connect
from local_chain.dump import Message, messages
from local_chain.postgresql import Postgresql, postgresql
from local_chain.registry import SchemaRegistry, schema_registry
from local_chain.server import PATIENCE, ChainError

if TYPE_CHECKING:
    from local_chain.mariadb import Mariadb


def database(kind: str, folder: Path) -> "AbstractContextManager[Postgresql | Mariadb]":
    """A server of a kind; its data lie in a folder that does not exist."""
    if kind == "postgresql":
        return postgresql(folder)
    # Only what runs one of these needs a client of MySQL.
    from local_chain.mariadb import mariadb, mysql

    if kind == "mysql_without_gtids":
        return mysql(folder, options=("--gtid-mode=OFF", "--enforce-gtid-consistency=OFF"))
    return mysql(folder) if kind == "mysql" else mariadb(folder)


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain that runs."""

    bootstrap: str
    """The broker's address."""
    connect: Connect
    databases: "dict[str, Postgresql | Mariadb]"
    registry: SchemaRegistry | None = None

    @property
    def postgresql(self) -> Postgresql:
        """The PostgreSQL server."""
        server = self.databases["postgresql"]
        assert isinstance(server, Postgresql)
        return server

    def binlog_server(self, kind: str) -> "Mariadb":
        """A MariaDB or MySQL server."""
        server = self.databases[kind]
        assert not isinstance(server, Postgresql)
        return server

    def messages(self) -> list[Message]:
        """All messages that the broker holds now."""
        return messages(self.bootstrap)

    def wait_for(
        self, is_there: Callable[[list[Message]], bool], patience: float = PATIENCE
    ) -> list[Message]:
        """The messages, as soon as they hold what is waited for.

        Raises:
            ChainError: it does not come in time.
        """
        end = time.monotonic() + patience
        while True:
            found = self.messages()
            if is_there(found):
                return found
            if time.monotonic() > end:
                raise ChainError(f"chain: what was waited for did not come in {patience:.0f} s")
            time.sleep(0.5)


@contextmanager
def local_chain(
    *databases: str,
    default_partitions: int = 1,
    exactly_once: bool = False,
    has_registry: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Chain]:
    """Run databases, a broker and Connect.

    Args:
        databases: postgresql, mariadb, mysql, or mysql_without_gtids, as MySQL came before 9.
        default_partitions: of a topic that is created without saying how many.
        exactly_once: whether Connect writes each batch of a source in one transaction of Kafka.
        has_registry: whether there is a schema registry, and an Avro converter in Connect.
        tell: called with each part that starts.
    """
    with tempfile.TemporaryDirectory(prefix="local-chain-") as name, ExitStack() as parts:
        folder = Path(name)
        # The databases run as another user, who must reach the folders in it that are theirs.
        os.chmod(folder, 0o711)
        servers = {}
        for kind in databases:
            tell(kind)
            servers[kind] = parts.enter_context(database(kind, folder / kind))
        tell("Kafka")
        bootstrap = parts.enter_context(
            broker(folder / "broker", default_partitions=default_partitions)
        )
        registry = None
        if has_registry:
            tell("the schema registry")
            registry = parts.enter_context(schema_registry(folder / "registry"))
        tell("Kafka Connect")
        converters = ["avro"] if has_registry else []
        plugins = sorted({kind.partition("_")[0] for kind in databases}) + converters
        worker = parts.enter_context(
            connect(folder / "connect", bootstrap, plugins, exactly_once=exactly_once)
        )
        yield Chain(bootstrap, worker, servers, registry)
