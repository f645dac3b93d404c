"""One answer of a registry: with retries, and within limits of time and size.

A socket's timeout ends a server that says nothing, and not one that sends a byte a second. So a
watch cuts the connection when the time for the whole answer is over.
"""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth
from requests.utils import get_environ_proxies
from urllib3.util.retry import Retry

from dbt_debezium.registry.block import RegistryBlock

ANSWER_SECONDS: Final = 60.0
"""For one answer, retries and the pauses between them included."""
CONNECT_SECONDS: Final = 10.0
SILENT_SECONDS: Final = 15.0
LARGEST_BYTES: Final = 16 << 20
CHUNK: Final = 64 << 10
TRIES_AGAIN: Final = 3
PASSING: Final = (429, 502, 503, 504)
"""Answers after which another try may help."""
HOW: Final[dict[str, Any]] = {
    "allow_redirects": False,
    "stream": True,
    "timeout": (CONNECT_SECONDS, SILENT_SECONDS),
}
REDIRECTS: Final = (301, 302, 303, 307, 308)
HEADERS: Final = {
    "Accept": "application/vnd.schemaregistry.v1+json, application/json, */*",
    # A few bytes of gzip can be a gigabyte.
    "Accept-Encoding": "identity",
    "User-Agent": "dbt-debezium",
}
CHECK: Final = "check its address, and land again: until then the messages wait"


class NoAnswerError(Exception):
    """Why there is none, as the end of a sentence."""


class Answer(NamedTuple):
    """What a server has sent."""

    status: int
    body: bytes
    location: str | None
    """Of a redirect."""
    retry_after: str | None
    seconds: float


class _TimeIsOverError(Exception):
    """No OSError: urllib3 would try again."""


class _Watch:
    """Cuts the connections of one request when its time is over."""

    def __init__(self, seconds: float) -> None:
        self.ends_at = time.monotonic() + seconds
        self.is_over = False
        self._sockets: list[socket.socket] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        timer = threading.Timer(self.ends_at - time.monotonic(), self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            for one in self._sockets:
                one.close()

    def add(self, connection: socket.socket) -> None:
        self.check()
        # TLS takes the socket over; a second name of it still ends the connection.
        self._sockets.append(connection.dup())

    def check(self, seconds: float = 0) -> None:
        """Raises _TimeIsOverError: so many seconds from now the time is over."""
        if self.is_over or time.monotonic() + seconds > self.ends_at:
            raise _TimeIsOverError

    def _cut(self) -> None:
        self.is_over = True
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Adapter(HTTPAdapter):
    """Shows each connection to a watch, as soon as there is one."""

    def __init__(self, watch: _Watch) -> None:
        self._watch = watch
        super().__init__(max_retries=_retries(watch))

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        pool = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = _watched(pool.ConnectionCls, self._watch)
        return pool


def _watched(kind: Any, watch: _Watch) -> Any:
    class Watched(kind):  # type: ignore[misc] # the class of the pool at hand
        def _new_conn(self) -> socket.socket:
            watch.check()
            connection: socket.socket = super()._new_conn()
            watch.add(connection)
            return connection

    return Watched


def _retries(watch: _Watch) -> Retry:
    class Patient(Retry):
        def sleep_for_retry(self, response: Any) -> bool:
            wanted = self.get_retry_after(response)
            if wanted:
                watch.check(wanted)
            return super().sleep_for_retry(response)

    return Patient(
        total=TRIES_AGAIN,
        redirect=0,
        backoff_factor=0.5,
        status_forcelist=PASSING,
        allowed_methods=["GET"],
        raise_on_status=False,
    )


def answer_of(url: str, block: RegistryBlock) -> Answer:
    """Ask once, and again where that may help.

    Args:
        url: of HTTP.
        block: whose credentials are sent.

    Raises:
        NoAnswerError: there is none in this time, or none that is an answer.
    """
    began = time.monotonic()
    watch = _Watch(ANSWER_SECONDS)
    late = NoAnswerError(f"no whole answer within {ANSWER_SECONDS:g} seconds; {CHECK}")
    try:
        with (
            watch.watching(),
            _session(url, block, watch) as session,
            session.get(url, **HOW) as response,
        ):
            is_redirect = response.status_code in REDIRECTS
            return Answer(
                response.status_code,
                b"" if is_redirect else _body(response, watch),
                response.headers.get("Location") if is_redirect else None,
                response.headers.get("Retry-After"),
                time.monotonic() - began,
            )
    except _TimeIsOverError:
        raise late from None
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        if watch.is_over:
            raise late from None
        raise NoAnswerError(f"{_reason(error)}: the registry does not answer; {CHECK}") from None


class _Session(requests.Session):
    """Leaves redirects to the client, also to what is no address."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        del resp
        return None


def _session(url: str, block: RegistryBlock, watch: _Watch) -> requests.Session:
    session = _Session()
    # Neither passwords of the user's .netrc nor other certificates than those that are named.
    session.trust_env = False
    session.proxies.update(get_environ_proxies(url))
    session.headers.clear()
    session.headers.update(HEADERS)
    session.verify = block.ca_certificate or _authorities()
    if block.username is not None:
        pair = (block.username.encode(), (block.password or "").encode())
        session.auth = HTTPBasicAuth(*pair)
    elif block.token is not None:
        session.headers["Authorization"] = f"Bearer {block.token}"
    if block.client_certificate is not None:
        certificate, key = block.client_certificate, block.client_key
        session.cert = (certificate, key) if key else certificate
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(watch))
    return session


def _authorities() -> str | bool:
    """Those of SSL_CERT_FILE or this machine; those of `requests` where it has none."""
    paths = ssl.get_default_verify_paths()
    return paths.cafile or paths.capath or True


def _body(response: requests.Response, watch: _Watch) -> bytes:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise NoAnswerError(f"the answer is compressed, which was not asked for; {CHECK}")
    parts: list[bytes] = []
    size = 0
    for part in response.iter_content(CHUNK):
        watch.check()
        parts.append(part)
        size += len(part)
        if size > LARGEST_BYTES:
            raise NoAnswerError(f"an answer of over {LARGEST_BYTES >> 20} MB; {CHECK}")
    watch.check()
    return b"".join(parts)


def _reason(error: BaseException) -> str:
    """What went wrong at the bottom, without a word of what was sent."""
    found = error
    while (below := found.__cause__ or found.__context__) is not None:
        found = below
    if isinstance(found, ssl.SSLCertVerificationError):
        return f"{type(found).__name__} ({found.verify_message})"
    if isinstance(found, OSError) and found.strerror:
        return f"{type(found).__name__} ({found.strerror})"
    return type(found).__name__
