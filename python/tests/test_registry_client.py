"""A registry that is slow, endless, referring or careless holds nobody up, and learns no secret."""

import json
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.registry import client, http
from dbt_debezium.registry.block import RegistryBlock
from dbt_debezium.registry.client import Registry
from dbt_debezium.registry.connect_schema import SchemaError
from dbt_debezium.registry.decoder import decoder
from dbt_debezium.registry.found import Found

WORD = "hunter2"
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
SCHEMA = '{"type":"int"}'
ANSWER = json.dumps({"schema": SCHEMA}).encode()

Request = BaseHTTPRequestHandler


@contextmanager
def running(server: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serving(answer: Callable[[Request], None], tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server of HTTP on loopback, whose answers a function gives."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    with running(server):
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"


@contextmanager
def sending(send: Callable[[Any], None]) -> Iterator[str]:
    """A server that says what it likes."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            try:
                send(self.request)
            except OSError:
                return

    server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with running(server):
        yield f"http://127.0.0.1:{server.server_address[1]}"


def answer_with(request: Request, body: bytes, status: int = 200, **headers: str) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


def at(url: str, **credentials: str) -> Registry:
    return Registry("shop: registry", RegistryBlock(url, **credentials))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "ANSWER_SECONDS", 1.0)


def byte_by_byte(*parts: bytes) -> Callable[[Any], None]:
    def send(connection: Any) -> None:
        for part in parts[:-1]:
            connection.sendall(part)
        while True:
            connection.sendall(parts[-1])
            time.sleep(0.05)

    return send


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "parts",
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{", b" "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X"),
        (b"HTTP", b"/"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    ],
    ids=["body", "body of a length", "chunks", "header", "status", "headers"],
)
def test_a_byte_at_a_time_ends_with_the_time_for_the_whole_answer(parts: tuple[bytes, ...]) -> None:
    began = time.monotonic()
    with (
        sending(byte_by_byte(*parts)) as url,
        pytest.raises(DebeziumError, match="no whole answer within 1 seconds; check its") as late,
    ):
        at(url, username="me", password=WORD).schema("7")
    assert time.monotonic() - began < 15
    assert WORD not in str(late.value)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_says_nothing_ends_with_it_too() -> None:
    with (
        sending(lambda _: time.sleep(20)) as url,
        pytest.raises(DebeziumError, match="no whole answer within 1 seconds"),
    ):
        at(url).schema("7")


def test_an_endless_answer_is_cut_off_where_no_schema_would_end() -> None:
    sent = 0

    def blanks(connection: Any) -> None:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 400000000\r\n\r\n")
        for _ in range(400):
            connection.sendall(b" " * 1_000_000)
            sent += 1

    with sending(blanks) as url, pytest.raises(DebeziumError, match="an answer of over 16 MB"):
        at(url).schema("7")
    assert sent < 100


def test_a_compressed_answer_is_not_unpacked() -> None:
    with (
        serving(lambda one: answer_with(one, b"", Content_Encoding="gzip")) as url,
        pytest.raises(DebeziumError, match="is compressed, which was not asked for"),
    ):
        at(url).schema("7")


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"schema":' * 50_000, b"9" * 5_000])
def test_an_answer_that_nests_is_none(body: bytes) -> None:
    with (
        serving(lambda one: answer_with(one, body)) as url,
        pytest.raises(DebeziumError, match="answers without a schema; url must name"),
    ):
        at(url).schema("7")


def test_a_schema_that_nests_is_given_and_refused_when_it_is_read() -> None:
    deep = '{"type":"array","items":' * 2_000 + '"int"' + "}" * 2_000
    body = json.dumps({"schema": deep}).encode()
    with serving(lambda one: answer_with(one, body)) as url:
        found = at(url).schema("7")
    assert found == Found("AVRO", deep)
    assert isinstance(decoder(deep), SchemaError)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_an_answer_that_passes_is_asked_for_again(status: int) -> None:
    left = [(status, {"Retry_After": "1"}), (status, {})]

    def answer(request: Request) -> None:
        if left:
            code, headers = left.pop()
            answer_with(request, b"", code, **headers)
        else:
            answer_with(request, ANSWER)

    with serving(answer) as url:
        assert at(url).schema("7") == Found("AVRO", SCHEMA)
    assert left == []


def test_a_connection_that_breaks_is_made_again() -> None:
    asked: list[int] = []

    def answer(connection: Any) -> None:
        asked.append(1)
        if len(asked) > 2:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + ANSWER)

    with sending(answer) as url:
        assert at(url).schema("7") == Found("AVRO", SCHEMA)


def test_whoever_asks_for_an_hour_of_patience_is_not_waited_for() -> None:
    began = time.monotonic()
    with (
        serving(lambda one: answer_with(one, b"", 503, Retry_After="3600")) as url,
        pytest.raises(DebeziumError, match="no whole answer within 60 seconds"),
    ):
        at(url).schema("7")
    assert time.monotonic() - began < 15


def test_a_registry_that_refuses_to_the_end_is_named_by_its_answer() -> None:
    with (
        serving(lambda one: answer_with(one, b"", 429)) as url,
        pytest.raises(DebeziumError, match="HTTP 429; look at its log"),
    ):
        at(url).schema("7")


def test_what_a_refusal_asks_for_is_told_as_a_number_of_seconds_alone() -> None:
    """It may repeat what it was sent."""
    for asked, says in (("7", "it asks to wait 7 s"), ("Basic cmVhZGVy", "look at its log")):
        with (
            serving(lambda one, asked=asked: answer_with(one, b"", 500, Retry_After=asked)) as url,
            pytest.raises(DebeziumError, match=f"HTTP 500; {says}"),
        ):
            at(url).schema("7")


def test_all_answers_together_take_no_longer_than_a_landing_may_hold_the_lake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "ALL_SECONDS", 0.3)

    def slow(request: Request) -> None:
        time.sleep(0.1)
        answer_with(request, ANSWER)

    with serving(slow) as url:
        registry = at(url)
        with pytest.raises(DebeziumError, match="took over 0 seconds; what it gave is kept"):
            _ = [registry.schema(str(number)) for number in range(100)]
        assert registry.schema("0") == Found("AVRO", SCHEMA)


def test_a_token_is_sent_as_one(tmp_path: Path) -> None:
    sent: list[str | None] = []

    def answer(request: Request) -> None:
        sent.append(request.headers["Authorization"])
        answer_with(request, ANSWER)

    with serving(answer) as url:
        at(url, token=WORD).schema("7")
        at(url, username="mé", password="pässword").schema("7")
        at(url).schema("7")
    assert sent == [f"Bearer {WORD}", "Basic bcOpOnDDpHNzd29yZA==", None]


@pytest.mark.parametrize(
    ("credentials", "why"),
    [
        ({"username": "me", "token": WORD}, "both a username and a token"),
        ({"password": WORD}, "a password and no username"),
        ({"client_key": "key.pem"}, "a client_key and no client_certificate"),
        ({"token": f"{WORD}\r\nX: y"}, "token: holds a character"),
        ({"token": f"{WORD}é"}, "token: holds a character"),
    ],
)
def test_credentials_that_do_not_go_together_are_refused_unsaid(
    credentials: dict[str, str], why: str
) -> None:
    with pytest.raises(DebeziumError, match=why) as refused:
        at("http://127.0.0.1:9", **credentials)
    assert WORD not in str(refused.value)


def test_a_password_of_the_users_netrc_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login me password {WORD}\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    sent: list[str | None] = []

    def answer(request: Request) -> None:
        sent.append(request.headers["Authorization"])
        answer_with(request, ANSWER)

    with serving(answer) as url:
        at(url).schema("7")
    assert sent == [None]


@pytest.mark.parametrize("credentials", [{"username": "me", "password": WORD}, {"token": WORD}])
def test_credentials_stay_with_the_registry_and_follow_no_redirect(
    credentials: dict[str, str],
) -> None:
    sent: list[tuple[str, str | None]] = []

    def end(request: Request) -> None:
        sent.append(("elsewhere", request.headers["Authorization"]))
        answer_with(request, ANSWER)

    with serving(end) as elsewhere:

        def refer(request: Request) -> None:
            sent.append((request.path, request.headers["Authorization"]))
            where = {
                "/schemas/ids/7": "/moved",
                "/moved": f"http://localhost:{request.server.server_port}/host",  # type: ignore[attr-defined]
                "/host": f"{elsewhere}/port",
            }
            answer_with(request, b"", 302, Location=where[request.path])

        with serving(refer) as url:
            assert at(url, **credentials).schema("7") == Found("AVRO", SCHEMA)
    assert [where for where, _ in sent] == ["/schemas/ids/7", "/moved", "/host", "elsewhere"]
    assert all(header and header != WORD for _, header in sent[:2])
    assert [header for _, header in sent[2:]] == [None, None]


@pytest.mark.parametrize(
    "location", ["file:///etc/hostname", "ftp://127.0.0.1/a", "gopher://127.0.0.1", "jar:http://a"]
)
def test_no_other_scheme_than_http_is_followed(location: str) -> None:
    with (
        serving(lambda one: answer_with(one, b"", 302, Location=location)) as url,
        pytest.raises(DebeziumError, match="refers to an address that is not one of HTTP"),
    ):
        at(url).schema("7")


@pytest.mark.parametrize(
    "location", ["http://[x", "http://a:b/", "http://127.0.0.1:99999/", "//[", "https://:1"]
)
def test_a_redirect_to_an_address_that_is_none_is_refused(location: str) -> None:
    with (
        serving(lambda one: answer_with(one, b"", 302, Location=location)) as url,
        pytest.raises(DebeziumError, match="refers to an address that is none; url must name"),
    ):
        at(url).schema("7")


def test_a_redirect_in_a_circle_ends() -> None:
    with (
        serving(lambda one: answer_with(one, b"", 307, Location="/again")) as url,
        pytest.raises(DebeziumError, match="refers to another address 5 times"),
    ):
        at(url).schema("7")


class Authority:
    """Signs certificates of a server and a client on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file, self._key = folder / "authority.pem", folder / "authority.key"
        self._run("req", "-x509", *NEW_KEY, "-nodes", "-keyout", self._key, "-out", self.file,
                  "-days", "2", "-subj", "/CN=an authority")  # fmt: skip

    def _run(self, *arguments: str | Path) -> None:
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)

    def certificate(self, name: str, passphrase: str | None = None) -> tuple[Path, Path]:
        """The files of a certificate and of its key."""
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        request, names = self.folder / f"{name}.csr", self.folder / "names"
        names.write_text("subjectAltName=IP:127.0.0.1")
        locked = ["-passout", f"pass:{passphrase}"] if passphrase else ["-nodes"]
        self._run("req", "-new", *NEW_KEY, *locked, "-keyout", key, "-out", request,
                  "-subj", f"/CN={name}")  # fmt: skip
        self._run("x509", "-req", "-in", request, "-out", certificate, "-extfile", names, "-days",
                  "2", "-CA", self.file, "-CAkey", self._key, "-CAcreateserial")  # fmt: skip
        return certificate, key


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates, and is not installed")
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def secure(authority: Authority) -> Iterator[str]:
    """A registry that lets nobody in without a certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.file)
    context.load_cert_chain(*authority.certificate("server"))
    context.verify_mode = ssl.CERT_REQUIRED
    with serving(lambda one: answer_with(one, ANSWER), context) as url:
        yield url


def test_a_client_certificate_lets_us_in(secure: str, authority: Authority) -> None:
    certificate, key = map(str, authority.certificate("client"))
    both = Path(certificate).with_name("both.pem")
    both.write_bytes(Path(certificate).read_bytes() + Path(key).read_bytes())
    ca = str(authority.file)
    for names in (
        {"client_certificate": certificate, "client_key": key},
        {"client_certificate": str(both)},
    ):
        found = at(secure, ca_certificate=ca, **names).schema("7")
        assert found == Found("AVRO", SCHEMA)


def test_the_authority_of_the_environment_counts(
    secure: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = map(str, authority.certificate("client"))
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    names = {"client_certificate": certificate, "client_key": key}
    assert at(secure, **names).schema("7") == Found("AVRO", SCHEMA)


def test_a_registry_whose_certificate_nobody_knows_is_sent_nothing(
    secure: str, authority: Authority
) -> None:
    with pytest.raises(DebeziumError, match=r"SSLCertVerificationError \(.*\): the registry"):
        at(secure, token=WORD).schema("7")


def test_what_tls_refuses_is_one_sentence(secure: str, authority: Authority) -> None:
    ca = str(authority.file)
    with pytest.raises(DebeziumError, match="the registry does not answer"):
        at(secure, ca_certificate=ca).schema("7")
    certificate, key = map(str, authority.certificate("locked", WORD))
    names = {"client_certificate": certificate, "client_key": key}
    with pytest.raises(DebeziumError, match="the registry does not answer") as refused:
        at(secure, ca_certificate=ca, **names).schema("7")
    assert WORD not in str(refused.value)
    with pytest.raises(DebeziumError, match="does not answer"):
        at(secure, ca_certificate="/no/such/file").schema("7")
    with pytest.raises(DebeziumError, match="does not answer"):
        at(secure, ca_certificate=ca, client_certificate="/no/such/file").schema("7")
