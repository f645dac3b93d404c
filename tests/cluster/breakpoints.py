"""A breakpoint in what a machine asks of its REST catalog.

A run reads and writes tables by requests to its catalog. One that waits there is a machine that
sleeps at that moment: all data that it was to write is written, and nothing names it yet.
"""

import http.client
import http.server
import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

SECONDS = 900
"""How long a request waits until somebody resumes."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Before the nth time that a machine asks this."""

    request: str
    """Its method and its path."""
    number: int = 1

    @property
    def is_write(self) -> bool:
        """Whether it changes what the catalog says; metrics are for its operator alone."""
        return not self.request.startswith(("GET ", "HEAD ")) and not self.request.endswith(
            "/metrics"
        )

    def __str__(self) -> str:
        path = self.request.replace("/v1/", "").replace("namespaces/", "")
        return f"{path} ({self.number})"


class Breakpoint:
    """Everything passes, until `set` says from which moment on nothing does."""

    def __init__(self) -> None:
        self.address = ""
        self._guard = threading.Condition()
        self._asked: list[str] = []
        self._counts: Counter[str] = Counter()
        self._moment: Moment | None = None
        self._is_reached = False
        self._lets_through = True

    def set(self, moment: Moment) -> None:
        """Have all requests from a moment on wait. It counts from here."""
        with self._guard:
            self._asked, self._counts = [], Counter()
            self._moment, self._is_reached, self._lets_through = moment, False, True

    def resume(self, *, lets_through: bool = True) -> list[Moment]:
        """Let what waits and all that comes pass; the moments since it was set or resumed last.

        Args:
            lets_through: if not, what waits gets no answer, and the catalog never hears of it.
        """
        with self._guard:
            asked, self._asked, counts = self._asked, [], Counter[str]()
            self._moment, self._is_reached, self._lets_through = None, False, lets_through
            self._guard.notify_all()
        moments = []
        for request in asked:
            counts[request] += 1
            moments.append(Moment(request, counts[request]))
        return moments

    @property
    def is_reached(self) -> bool:
        """Whether the moment has come."""
        return self._is_reached

    def passes(self, request: str) -> bool:
        """Note a request, and wait if the moment has come; whether it may go on."""
        with self._guard:
            self._asked.append(request)
            self._counts[request] += 1
            moment = self._moment
            if moment and moment == Moment(request, self._counts[request]):
                self._is_reached = True
            if not self._is_reached:
                return True
            if not self._guard.wait_for(lambda: not self._is_reached, SECONDS):
                raise TimeoutError(f"{request} waited {SECONDS} s")
            return self._lets_through


@contextmanager
def breakpoint_before(catalog: str) -> Iterator[Breakpoint]:
    """One before the catalog at an address; its own is on loopback."""
    upstream = urllib.parse.urlsplit(catalog).netloc
    made = Breakpoint()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Or an answer in two parts waits 40 ms for the client to have acknowledged the first.
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            self.catalog = http.client.HTTPConnection(upstream)

        def finish(self) -> None:
            super().finish()
            self.catalog.close()

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not made.passes(f"{self.command} {urllib.parse.urlsplit(self.path).path}"):
                self.close_connection = True
                return
            self.catalog.request(self.command, self.path, body, dict(self.headers))
            answer = self.catalog.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name in ("Content-Type", "Content-Length"):
                if value := answer.headers.get(name):
                    self.send_header(name, value)
            self.end_headers()
            # One that has been killed meanwhile takes no answer.
            try:
                self.wfile.write(content)
            except ConnectionError:
                self.close_connection = True

        do_GET = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815 # http.server's names

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        made.resume()
        server.shutdown()
        server.server_close()
