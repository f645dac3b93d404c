"""Five rounds with a broker, a registry, a catalog, a store and hashed columns: no secret is left.

The servers take these secrets and no others. What rounds and other commands write, print and have
on command lines is unpacked and searched, with their whole lake, catalog and folders of users.
"""

import base64
import hashlib
import hmac
import json
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("moto", reason="`make setup-cluster` installs what the cluster needs")
pytest.importorskip("kafka", reason="`make setup-live` installs clients of Kafka")

from answered import GIVE
from avro_writer import Writer
from chain import (
    BUCKET,
    REPOSITORY,
    SECRET_KEY,
    TOKEN,
    catalog_on,
    machine_environment,
    object_store,
    store_client,
    store_settings,
)
from http_server import serving
from kafka import KafkaProducer
from lake import capture, tables_of
from machine import COMMAND, SECONDS, Machine
from oracle import Message, read_messages
from unpacked import contents
from watching import alone

from dbt_debezium.preview import write_project
from local_chain.broker import PASSWORD, USER, broker
from local_chain.server import HOST, free_port

pytestmark = pytest.mark.slow

ROUNDS = 5
HASH_KEY = "key-of-hashes-9e3779b97f4a7c15f39cc0605cedc834"
REGISTRY_PASSWORD = "word-of-registry-2b992ddfa23249d6"
WRONG = "word-of-nobody-61c8864680b583eb"
BASIC = base64.b64encode(f"{USER}:{REGISTRY_PASSWORD}".encode()).decode()
SECRETS = (HASH_KEY, REGISTRY_PASSWORD, BASIC, WRONG, PASSWORD, TOKEN, SECRET_KEY)
TABLE, HASHED, CLEAR = "public.txt", "ct", "MiXeD"
LANDING = """
shop:
  bootstrap_servers: {secured}
  topics: types[.].*
  options:
    security.protocol: SASL_PLAINTEXT
    sasl.mechanism: PLAIN
    sasl.jaas.config: >
      org.apache.kafka.common.security.plain.PlainLoginModule required
      username="{user}" password="${{env:SHOP_PASSWORD}}";
  registry:
    url: {registry}
    username: {user}
    password: ${{file:{file}}}
"""
PUBLISHED = '"outcome": "published"'
LATER = (
    ["status"],
    ["status", "--json"],
    ["status", "--format", "prometheus"],
    ["report", "later.html"],
    ["quarantine", "--values"],
    ["views", "--dialect", "duckdb"],
    ["doctor"],
    ["maintain"],
    ["query", "select * from public.txt"],
    ["query", "select * from duckdb_settings()"],
    ["query", "select * from duckdb_secrets()"],
    ["query", "select * from duckdb_secrets(redact => false)"],
    ["query", "select * from duckdb_databases()"],
    ["query", "select current_setting('s3_secret_access_key')"],
    ["query", "--engine", "spark", "select * from public.txt"],
    ["query", "--engine", "spark", "set -v"],
    ["query", "--engine", "spark", "select '${spark.sql.catalog.lake.token}'"],
    ["query", "--engine", "spark", "describe namespace extended public"],
    ["query", "--engine", "spark", "show tblproperties build.cut"],
)
"""Commands behind the rounds, and what somebody asks who looks for a secret."""
REFUSED = (["status"], ["query", "select 1"], ["doctor"])
"""Commands of which the catalog wants another token."""


@dataclass(frozen=True, slots=True)
class Left:
    """What came of it."""

    output: str
    """What all commands have said, on both streams."""
    command_lines: frozenset[str]
    """Of all processes of this computer meanwhile."""
    folder: Path
    """Has the files of the machine: lake, project, temporary ones, and those of the user."""
    store: Path
    """Has the objects of the store, and the file of the catalog."""
    rounds: list[dict[str, Any]]
    """Those that published, as they told."""

    def files_with(self, text: str) -> list[str]:
        return [
            str(path)
            for folder in (self.folder, self.store)
            for path, content in contents(folder)
            if text.encode() in content
        ]


def parts_of(messages: list[Message]) -> list[list[Message]]:
    """As many parts as there are rounds, which each end with a transaction."""
    ends = [
        number
        for number, one in enumerate(messages, start=1)
        if one["topic"].endswith("transaction") and '"END"' in (one["value"] or "")
    ]
    chosen = [ends[len(ends) * part // ROUNDS - 1] for part in range(1, ROUNDS)]
    return [
        messages[start:end]
        for start, end in zip([0, *chosen], [*chosen, len(messages)], strict=True)
    ]


def send(address: str, writer: Writer, messages: list[Message]) -> None:
    producer = KafkaProducer(bootstrap_servers=address)
    for one in messages:
        key, value = writer.written(one["key"]), writer.written(one["value"])
        producer.send(one["topic"], value, key, [], 0)
    producer.close()


@contextmanager
def registry(writer: Writer) -> Iterator[str]:
    """A registry for those who log in. It repeats in errors whatever it was sent."""

    class Schemas(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = self.path.rpartition("/")[2]
            text = "[]" if number == "subjects" else writer.texts.get(number)
            is_known = self.headers.get("Authorization") == f"Basic {BASIC}"
            self.send_response((200 if text else 404) if is_known else 401)
            self.end_headers()
            answer: object = {"error_code": 40403, "message": str(self.headers)}
            if is_known and text:
                answer = [] if number == "subjects" else {"schema": text}
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    with serving(Schemas) as address:
        yield address


@contextmanager
def command_lines() -> Iterator[set[str]]:
    """Those of all processes, until the block ends."""
    found: set[str] = set()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.02):
            for one in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    found.add(one.read_text(errors="replace"))
                except OSError:  # It has ended.
                    continue

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield found
    finally:
        ended.set()
        looking.join()


class Rounds:
    """The process of `run --every`, which lands, publishes, and tells what it does."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        alert = folder / "alert.sh"
        alert.write_text('#!/bin/sh\ncat >> "$(dirname "$0")/alerts.jsonl"\n')
        alert.chmod(0o755)
        self._errors = folder / "errors.log"
        command = [COMMAND, "run", "--every", "1s", "--json", "--report", folder / "page.html"]
        command += ["--metrics-file", folder / "metrics.prom", "--on-change", alert]
        self._process = machine.start(
            *("sh", "-c", 'exec "$@" 2> "$0"', self._errors, *command),
        )
        self.lines: list[str] = []

    def until(self, words: str) -> dict[str, Any]:
        """The next one that says so."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            if words in line:
                told: dict[str, Any] = json.loads(line)
                return told
        raise AssertionError(self._errors.read_text()[-3000:])

    def end(self) -> str:
        """What it has said."""
        self._process.terminate()
        said, _ = self._process.communicate(timeout=SECONDS)
        return "".join(self.lines) + said + self._errors.read_text()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def objects_of(store: str, folder: Path) -> None:
    """Put what a store has into a folder."""
    client = store_client(store)
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for one in page.get("Contents", []):
            path = folder / one["Key"]
            path.parent.mkdir(parents=True, exist_ok=True)
            client.download_file(BUCKET, one["Key"], str(path))


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Left]:
    messages = read_messages(capture("types_schema"))
    servers, folder, store = (tmp_path_factory.mktemp(name) for name in ("servers", "own", "store"))
    writer = Writer()
    project, secret = folder / "project", servers / "registry-password"
    write_project(
        REPOSITORY, project, tables_of(messages, only=["txt"]), {"hashed": {TABLE: [HASHED]}}
    )
    secret.write_text(REGISTRY_PASSWORD)
    secured = f"{HOST}:{free_port()}"
    for name in ("tmp", "home"):
        (folder / name).mkdir()
    with ExitStack() as stack:
        seen = stack.enter_context(command_lines())
        s3 = stack.enter_context(object_store(servers))
        catalog = stack.enter_context(catalog_on(servers, store_settings(s3)))
        address = stack.enter_context(broker(servers / "broker", secured=secured))
        url = stack.enter_context(registry(writer))
        landing = LANDING.format(secured=secured, user=USER, registry=url, file=secret)
        (project / "landing.yml").write_text(landing)
        environment = (
            machine_environment(catalog, s3)
            | alone(servers)
            | {
                "DBT_DEBEZIUM_HASH_KEY": HASH_KEY,
                "SHOP_PASSWORD": PASSWORD,
                "TMPDIR": str(folder / "tmp"),
                "HOME": str(folder / "home"),
            }
        )
        machine = Machine(folder, environment, project, "lake")
        parts = parts_of(messages)
        send(address, writer, parts[0])
        following = Rounds(machine, folder)
        stack.callback(following.kill)
        told = [following.until(PUBLISHED)]
        for part in parts[1:]:
            send(address, writer, part)
            told.append(following.until(PUBLISHED))
        secret.write_text(WRONG)
        send_unknown(address)
        following.until("HTTP 401")
        secret.write_text(REGISTRY_PASSWORD)
        following.until(PUBLISHED)
        said = following.end()

        def give(*commands: Sequence[str], **environment: str) -> str:
            """All that a process writes for some commands."""
            command = (sys.executable, "-c", GIVE, json.dumps(commands))
            with machine.start(*command, environment=environment) as process:
                written, _ = process.communicate(timeout=SECONDS)
            assert process.returncode == 0, written
            return written

        said += give(*LATER)
        said += give(*REFUSED, DBT_DEBEZIUM_CATALOG_TOKEN=WRONG)
        objects_of(s3, store)
        shutil.copy(servers / "rest.db", store)
        yield Left(said, frozenset(seen), folder, store, told)


def send_unknown(address: str) -> None:
    """A message of whose schema the registry knows nothing."""
    producer = KafkaProducer(bootstrap_servers=address)
    producer.send("types.unknown", b"\0\0\0\x27\x0f\0", b"\0\0\0\x27\x0f\0")
    producer.close()


def test_the_servers_took_the_secrets_and_readers_see_hashes(left: Left) -> None:
    """Else the other tests would show nothing."""
    assert len(left.rounds) == ROUNDS
    assert "HTTP 401; it wants credentials" in left.output
    assert "unknown token" in left.output
    hashed = hmac.new(HASH_KEY.encode(), CLEAR.encode(), hashlib.sha256).hexdigest()
    assert hashed in left.output
    assert CLEAR not in left.output
    # The search finds what is in compressed files of the store.
    assert {Path(one).suffix for one in left.files_with(hashed)} == {".parquet"}
    assert any("org.apache.spark" in one for one in left.command_lines)
    assert (left.folder / "alerts.jsonl").stat().st_size


@pytest.mark.parametrize("number", range(len(SECRETS)))
def test_no_file_of_the_lake_the_catalog_and_the_user_has_a_secret(left: Left, number: int) -> None:
    assert left.files_with(SECRETS[number]) == []


def test_no_output_has_a_secret(left: Left) -> None:
    assert [one for one in SECRETS if one in left.output] == []


def test_no_command_line_has_a_secret(left: Left) -> None:
    told = [line for line in left.command_lines if any(one in line for one in SECRETS)]
    assert told == []
