"""A gate on loopback before a server: it can be shut or fall silent, also after some requests."""

import http.client
import http.server
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

Mode = Literal["open", "shut", "silent", "cut"]
"""shut: connections are refused. silent: they are taken, and no request is answered. cut: the next
request reaches the server, its answer is lost, and the gate is shut.
"""


class Gate:
    """A gate before a server.

    Args:
        server: its address.
    """

    def __init__(self, server: str) -> None:
        self._server = urllib.parse.urlsplit(server)
        self._port = 0
        self._mode: Mode = "open"
        self._next: tuple[Mode, int] = ("open", 0)
        self._guard = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._listener: http.server.ThreadingHTTPServer | None = None
        self._passed = 0
        self.open()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def open(self) -> None:
        """Let requests through."""
        with self._guard:
            self._mode, self._next, self._passed = "open", ("open", 0), 0
        if self._listener is None:
            self._listen()

    def close(self, mode: Mode = "shut", after: int = 0) -> None:
        """Let no request through, once some more have been let through."""
        with self._guard:
            self._next, self._passed = (mode, after), 0
        if after == 0 and mode != "cut":
            self._change(mode)

    @contextmanager
    def closed(self, mode: Mode) -> Iterator[None]:
        """Let no request through, for a `with` block."""
        self.close(mode)
        try:
            yield
        finally:
            self.open()

    @property
    def is_closed(self) -> bool:
        return self._mode != "open"

    def _listen(self) -> None:
        gate = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Or an answer in two parts waits 40 ms for the client to have acknowledged the first.
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                gate._connections.add(self.connection)

            def finish(self) -> None:
                gate._connections.discard(self.connection)
                # The gate may have been shut.
                with suppress(OSError):
                    super().finish()

            def handle(self) -> None:
                with suppress(OSError):
                    super().handle()

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                mode = gate._next_mode()
                if mode in ("open", "cut"):
                    status, headers, content = gate._forward(
                        self.command, self.path, self.headers.items(), body
                    )
                if mode != "open":
                    self.close_connection = True
                    gate._change(mode)
                if mode == "silent":
                    # Until the client gives up.
                    self.connection.recv(1)
                if mode != "open":
                    return
                self.send_response_only(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer  # noqa: N815 # of http.server

            def log_message(self, *_: Any) -> None:
                pass

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: Any) -> None:
                pass

        self._listener = Listener(("127.0.0.1", self._port), Handler)
        self._port = self._listener.server_port
        threading.Thread(target=self._listener.serve_forever, args=[0.05], daemon=True).start()

    def _next_mode(self) -> Mode:
        """What a request meets."""
        with self._guard:
            if self._mode != "open":
                return self._mode
            self._passed += 1
            mode, after = self._next
            if self._passed <= after:
                return "open"
            # One request alone is cut off.
            self._mode = "shut" if mode == "cut" else mode
            return mode

    def _change(self, mode: Mode) -> None:
        with self._guard:
            self._mode = "shut" if mode == "cut" else mode
            listener = self._listener
            if self._mode != "shut" or listener is None:
                return
            self._listener = None
        listener.shutdown()
        listener.server_close()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _forward(
        self, method: str, path: str, headers: Any, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        server = http.client.HTTPConnection(str(self._server.hostname), self._server.port or 80)
        try:
            server.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                if name.lower() not in {"connection", "expect"}:
                    server.putheader(name, value)
            server.endheaders(body)
            answer = server.getresponse()
            content = answer.read()
            hop = {"connection", "transfer-encoding"}
            found = [(name, one) for name, one in answer.getheaders() if name.lower() not in hop]
            if answer.headers.get("Content-Length") is None:
                found.append(("Content-Length", str(len(content))))
            return answer.status, found, content
        finally:
            server.close()


@contextmanager
def gate(server: str) -> Iterator[Gate]:
    """A gate before a server; it ends with the block."""
    made = Gate(server)
    try:
        yield made
    finally:
        made.close()
