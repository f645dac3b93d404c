"""Whether there is a Java that Spark 4 can run on."""

import functools
import os
import pwd
import re
import shutil
import socket
import subprocess
from pathlib import Path

from dbt_debezium.errors import DebeziumError

OLDEST_JAVA = 17
REMEDY = "install Java 17 or 21 and put it on PATH, or set JAVA_HOME to its folder"


@functools.cache
def check_java() -> Path:
    """Return the java that Spark will start.

    Spark takes JAVA_HOME when it is set, even when nothing is there, and PATH otherwise.

    Raises:
        DebeziumError: there is none, it does not run, it is older than Java 17, the user of this
            process has no name, or this host no address.
    """
    java = _find_java()
    try:
        # A Java prints its version within 50 ms; one that takes two minutes is stuck.
        shown = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=120, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DebeziumError(f"java: {java} does not run; {REMEDY}") from error
    version = major_version(shown.stderr)
    if version is None:
        raise DebeziumError(f"java: {java} does not say which version it is; {REMEDY}")
    if version < OLDEST_JAVA:
        raise DebeziumError(f"java: {java} is version {version}, Spark needs 17 or 21; {REMEDY}")
    _check_user(os.getuid())
    _check_host(socket.gethostname())
    return java


def _check_user(number: int) -> None:
    """Refuse a user without a name, as containers have: Spark would end in a stack trace.

    Raises:
        DebeziumError: it has none.
    """
    try:
        pwd.getpwuid(number)
    except KeyError as error:
        raise DebeziumError(
            f"java: the user {number} has no entry in /etc/passwd, which Spark needs; run as a "
            "user that has one, or mount a file that names it"
        ) from error


def _check_host(name: str) -> None:
    """Refuse a host whose name has no address: Spark would end in a stack trace.

    Raises:
        DebeziumError: it has none, and SPARK_LOCAL_IP says none.
    """
    if os.environ.get("SPARK_LOCAL_IP"):
        return
    try:
        socket.getaddrinfo(name, None)
    except OSError as error:
        raise DebeziumError(
            f"java: the name of this host, '{name}', has no address, which Spark needs; add a line "
            f"'127.0.0.1 {name}' to /etc/hosts"
        ) from error


def _find_java() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not java.is_file():
            raise DebeziumError(f"java: JAVA_HOME is '{home}', which has no bin/java; {REMEDY}")
        return java
    found = shutil.which("java")
    if found is None:
        raise DebeziumError(f"java: not found on PATH, and JAVA_HOME is not set; {REMEDY}")
    return Path(found)


def major_version(shown: str) -> int | None:
    """The major version in what `java -version` prints; None when there is none.

    >>> major_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> major_version('java version "1.8.0_392"')
    8
    >>> major_version('openjdk version "21" 2023-09-19')
    21
    """
    found = re.search(r'version "(?:1\.)?(\d+)', shown)
    return int(found[1]) if found else None
