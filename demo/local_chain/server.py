"""Starts a server, waits until it answers, and ends it, whatever happens in between."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

HOST = "127.0.0.1"
PATIENCE = 120.0
"""Seconds for a server to answer, and to end by itself before it is killed."""
SHOWN_LINES = 20
_STARTER = ThreadPoolExecutor(1, "server-starter")
"""Starts all servers, because the kernel kills a server when the thread that started it ends."""


class ChainError(Exception):
    """A part of the chain does not do what it should. The message is one sentence, and its log."""


def free_port() -> int:
    """A port of loopback on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def as_other_user() -> list[str]:
    """What a command begins with so that it runs as `nobody`, if this is root.

    PostgreSQL and MariaDB refuse to run as root.
    """
    is_root = os.geteuid() == 0
    return ["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] if is_root else []


def hand_over(folder: Path) -> Path:
    """Make a folder that the server's user owns."""
    folder.mkdir(mode=0o700)
    if as_other_user():
        import pwd

        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return folder


def run(command: Sequence[str | Path], log: Path, *, other_user: bool = False) -> None:
    """Run a command that prepares a server.

    Raises:
        ChainError: it fails.
    """
    with log.open("ab") as output:
        done = subprocess.run(
            [*_setpriv(other_user), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
    if done.returncode:
        raise ChainError(f"{log.stem}: {command[0]} failed; {_end_of(log)}")


class Server:
    """A server of this machine, which the kernel kills should this process die first.

    Args:
        command: what to run.
        log: where its output goes.
        is_ready: whether it answers.
        other_user: whether it runs as `nobody` if this is root.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        log: Path,
        is_ready: Callable[[], bool],
        *,
        other_user: bool = False,
    ) -> None:
        self._command = [*_setpriv(other_user), *command]
        self._log = log
        self._is_ready = is_ready
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers.

        Raises:
            ChainError: it ends before it answers, or does not answer in time.
        """
        self._process = process = _STARTER.submit(self._open).result()
        wait_until(self._is_ready, lambda: _why_not_ready(process, self._log))

    def kill(self) -> None:
        """Kill it at once, as the kernel does when memory runs out."""
        if self._process and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def end(self) -> None:
        """Ask it to end, and kill it if it does not."""
        if self._process:
            _end(self._process)

    def _open(self) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as output:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


@contextmanager
def running(
    command: Sequence[str | Path],
    log: Path,
    is_ready: Callable[[], bool],
    *,
    other_user: bool = False,
) -> Iterator[Server]:
    """Run a server for the length of a `with` block, which begins when the server answers.

    Raises:
        ChainError: it ends before it answers, or does not answer in time.
    """
    server = Server(command, log, is_ready, other_user=other_user)
    try:
        server.start()
        yield server
    finally:
        server.end()


def wait_until(
    is_true: Callable[[], bool], why_not: Callable[[], str | None], patience: float = PATIENCE
) -> None:
    """Ask until it is true.

    Args:
        is_true: asked ten times a second.
        why_not: a sentence once there is no use in waiting longer; None while there is.
        patience: seconds after which there is no use either.

    Raises:
        ChainError: with the sentence.
    """
    end = time.monotonic() + patience
    while not is_true():
        reason = why_not()
        if reason is None and time.monotonic() > end:
            reason = f"nothing came within {patience:.0f} seconds"
        if reason is not None:
            raise ChainError(reason)
        time.sleep(0.1)


def listens(port: int) -> bool:
    """Whether something accepts connections on the port."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def _setpriv(other_user: bool) -> list[str]:
    return ["setpriv", "--pdeathsig", "KILL", *(as_other_user() if other_user else [])]


def _why_not_ready(process: subprocess.Popen[bytes], log: Path) -> str | None:
    if process.poll() is None:
        return None
    return f"{log.stem}: ended with {process.returncode} before it was ready; {_end_of(log)}"


def _end(process: subprocess.Popen[bytes]) -> None:
    for with_signal in (signal.SIGTERM, signal.SIGKILL):
        # The group is the server's own, since it has a session of its own.
        if process.poll() is None:
            os.killpg(process.pid, with_signal)
        try:
            process.wait(timeout=PATIENCE / 6)
        except subprocess.TimeoutExpired:
            continue
        return


def _end_of(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-SHOWN_LINES:]
    return "\n".join([f"the end of {log.name}:", *lines])
