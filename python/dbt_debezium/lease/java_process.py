"""No second Java process that writes to the lake of this machine."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dbt_debezium.errors import DebeziumError

JVM_LOCK_NAME: Final = "jvm.lock"
WAIT_SECONDS: Final = 60.0

_held_by_jvm: set[Path] = set()


@contextlib.contextmanager
def jvm_lease(jvm: Any, lake: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Let no other JVM write to the lake during a `with` block.

    The JVM of a killed run outlives it by half a second or more, and could commit once more after
    the next run has looked. A lock of the JVM's own ends when it does, so waiting for the lock is
    waiting for its end.

    Args:
        jvm: py4j's view of the JVM, `spark._jvm`; None over Spark Connect, where
            `end_earlier_session` has this purpose.
        wait_seconds: how long another JVM may take to end.

    Raises:
        DebeziumError: another JVM is still there after the wait.
    """
    key = lake.resolve()
    if jvm is None or key in _held_by_jvm:
        yield
        return
    # Closing the channel, or the end of the JVM, releases the lock.
    channel = jvm.java.io.RandomAccessFile(str(key / JVM_LOCK_NAME), "rw").getChannel()
    try:
        give_up_at = time.monotonic() + wait_seconds
        while channel.tryLock() is None:
            if time.monotonic() > give_up_at:
                raise DebeziumError(
                    f"lake: the Java process of a killed run still holds {lake / JVM_LOCK_NAME} "
                    f"after {wait_seconds:.0f} s; end that process"
                )
            time.sleep(0.1)
        _held_by_jvm.add(key)
        try:
            yield
        finally:
            _held_by_jvm.discard(key)
    finally:
        # After Ctrl-C in Spark the connection to the JVM may be gone, and the lock with it.
        with contextlib.suppress(Exception):
            channel.close()
