"""A MariaDB server (Debian: `mariadb-server`), or a MySQL server, with a binary log and GTIDs."""

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pymysql

from local_chain.server import HOST, ChainError, free_port, hand_over, run, running

USER = "debezium"
SERVER_ID = 7
CONNECTOR_ID = 5801
"""What the connector calls itself as a replica."""
SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/libexec"])
MYSQLD = "DBT_DEBEZIUM_MYSQLD"
"""The variable that holds the command of a MySQL server, since Debian's stable release has none."""
BINARY_LOG = ("--log-bin=bin", f"--server-id={SERVER_ID}")


@dataclass(frozen=True, slots=True)
class Mariadb:
    """A running server of MariaDB or MySQL. Whoever is on this machine may log in."""

    port: int
    product: str = "MariaDb"
    """As the class of the connector names it."""

    def session(self, database: str | None = None) -> "pymysql.connections.Connection":
        """A connection of its own, without autocommit."""
        return pymysql.connect(host=HOST, port=self.port, user=USER, database=database)

    def sql(self, statements: Sequence[str]) -> None:
        """Run statements, each committed."""
        with self.session() as session, session.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                session.commit()

    def connector(self, prefix: str, history: str) -> dict[str, str]:
        """The least that Debezium needs.

        Args:
            prefix: what topics begin with.
            history: the broker that keeps the history of schemas.
        """
        return {
            "connector.class": (
                f"io.debezium.connector.{self.product.lower()}.{self.product}Connector"
            ),
            "database.hostname": HOST,
            "database.port": str(self.port),
            "database.user": USER,
            "database.password": "",
            "database.server.id": str(CONNECTOR_ID),
            "topic.prefix": prefix,
            "schema.history.internal.kafka.bootstrap.servers": history,
            "schema.history.internal.kafka.topic": f"connect-history-{prefix}",
        }


@contextmanager
def mariadb(folder: Path, options: Sequence[str] = ()) -> Iterator[Mariadb]:
    """Run a server; its data lie in a folder that does not exist.

    Args:
        folder: for the data.
        options: further ones of mariadbd.
    """
    hand_over(folder)
    data = folder / "data"
    run(
        [
            *(_program("mariadb-install-db"), "--no-defaults", f"--datadir={data}"),
            *("--auth-root-authentication-method=normal", "--skip-test-db"),
        ],
        folder.parent / "mariadb.log",
        other_user=True,
    )
    rows = "--binlog-format=ROW"  # else MIXED, with statements instead of rows
    with _server([_program("mariadbd")], folder, "MariaDb", [rows, *options]) as server:
        yield server


@contextmanager
def mysql(folder: Path, options: Sequence[str] = ()) -> Iterator[Mariadb]:
    """The same of MySQL, as far as there is one: see MYSQLD."""
    hand_over(folder)
    command = shlex.split(os.environ.get(MYSQLD, ""))
    if not command:
        raise ChainError(f"mysql: no server is known; set {MYSQLD} to the command of mysqld")
    initialize = [*command, "--no-defaults", f"--datadir={folder / 'data'}"]
    run(
        [*initialize, "--initialize-insecure"],
        folder.parent / "mysql.log",
        other_user=True,
    )
    no_more = ("--mysqlx=OFF", "--secure-file-priv=")
    with _server(command, folder, "MySql", [*no_more, *options]) as server:
        yield server


@contextmanager
def _server(
    command: Sequence[str | Path], folder: Path, product: str, options: Sequence[str]
) -> Iterator[Mariadb]:
    server = Mariadb(free_port(), product)
    init = folder / "init.sql"
    init.write_text(
        f"create user if not exists {USER}@'{HOST}';\ngrant all on *.* to {USER}@'{HOST}';\n"
    )
    init.chmod(0o644)
    running_command = [
        *(*command, "--no-defaults", f"--datadir={folder / 'data'}", f"--init-file={init}"),
        *(f"--bind-address={HOST}", f"--port={server.port}", f"--socket={folder / 's'}"),
        *(f"--pid-file={folder / 'pid'}", "--skip-name-resolve", *BINARY_LOG, *options),
    ]
    log = folder.parent / f"{product.lower()}.log"
    with running(running_command, log, lambda: _answers(server), other_user=True):
        yield server


def _answers(server: Mariadb) -> bool:
    try:
        server.session().close()
    except pymysql.Error:
        return False
    return True


def _program(name: str) -> Path:
    found = shutil.which(name, path=SEARCHED)
    if found is None:
        raise ChainError(f"mariadb: {name} is not installed; apt-get install mariadb-server")
    return Path(found)
