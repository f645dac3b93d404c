"""Whether there is a Java that Spark can run on, said before Spark starts."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark import jars
from dbt_debezium.spark.java import check_java

REMEDY = "; install Java 17 or 21 and put it on PATH, or set JAVA_HOME to its folder"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    check_java.cache_clear()
    yield
    check_java.cache_clear()


def fake_java(home: Path, script: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return java


def refused(monkeypatch: pytest.MonkeyPatch, home: Path | str) -> str:
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(DebeziumError) as error:
        check_java()
    return str(error.value)


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.2"])
def test_java_17_and_newer_is_taken_from_java_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    java = fake_java(tmp_path, f"echo 'openjdk version \"{version}\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert check_java() == java


def test_without_java_home_it_is_taken_from_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = fake_java(tmp_path, "echo 'openjdk version \"17\"' >&2")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(java.parent))
    assert check_java() == java


def test_a_user_without_a_name_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path, "echo 'openjdk version \"17\"' >&2")
    monkeypatch.setattr("os.getuid", lambda: 2_000_000_001)
    assert refused(monkeypatch, tmp_path) == (
        "java: the user 2000000001 has no entry in /etc/passwd, which Spark needs; run as a user "
        "that has one, or mount a file that names it"
    )


def test_a_host_whose_name_has_no_address_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path, "echo 'openjdk version \"17\"' >&2")
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    monkeypatch.setattr("socket.gethostname", lambda: "bank-0.invalid")
    assert refused(monkeypatch, tmp_path) == (
        "java: the name of this host, 'bank-0.invalid', has no address, which Spark needs; add a "
        "line '127.0.0.1 bank-0.invalid' to /etc/hosts"
    )


def test_java_is_asked_once_per_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, 'echo \'openjdk version "17"\' >&2; rm "$0"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check_java()
    started_at = time.perf_counter()
    check_java()
    assert time.perf_counter() - started_at < 0.01


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2"])
def test_an_older_java_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    java = fake_java(tmp_path, f"echo 'openjdk version \"{version}\"' >&2")
    major = version.removeprefix("1.").partition(".")[0]
    assert refused(monkeypatch, tmp_path) == (
        f"java: {java} is version {major}, Spark needs 17 or 21{REMEDY}"
    )


def test_no_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(monkeypatch, "") == (
        f"java: not found on PATH, and JAVA_HOME is not set{REMEDY}"
    )


def test_a_java_home_without_java_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refused(monkeypatch, tmp_path) == (
        f"java: JAVA_HOME is '{tmp_path}', which has no bin/java{REMEDY}"
    )


def test_a_java_that_does_not_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = fake_java(tmp_path, "exit 1")
    assert refused(monkeypatch, tmp_path) == f"java: {java} does not run{REMEDY}"


def test_a_java_without_a_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = fake_java(tmp_path, "true")
    assert refused(monkeypatch, tmp_path) == (
        f"java: {java} does not say which version it is{REMEDY}"
    )


def test_an_absent_jar_is_named_with_the_command_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_JARS", str(tmp_path))
    first, second, *_ = jars.JARS
    (tmp_path / first.file_name).touch()
    with pytest.raises(DebeziumError) as error:
        jars.check_jars()
    assert str(error.value) == (
        f"jars: {second.file_name} is not in {tmp_path}; run `dbt-debezium jars`"
    )


def test_jars_that_are_there_and_right_are_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_JARS", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "absent"))
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    jar = jars.Jar("org.example", "there", "1.0", empty)
    (tmp_path / jar.file_name).touch()
    monkeypatch.setattr(jars, "JARS", (jar,))
    assert jars.fetch_jars() == []


@pytest.mark.fault(82)
def test_a_jar_with_another_content_is_fetched_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instead of Java, a script that writes what Ivy would retrieve."""
    folder = tmp_path / "jars"
    monkeypatch.setenv("DBT_DEBEZIUM_JARS", str(folder))
    fake_java(
        tmp_path / "java",
        "echo 'openjdk version \"17\"' >&2\n"
        "while [ $# -gt 1 ]; do shift; done\n"
        'echo other > "$(dirname "$1")/there-1.0.jar"',
    )
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jars, "JARS", (jars.Jar("org.example", "there", "1.0", "0" * 64),))
    with pytest.raises(DebeziumError, match=r"jars: org\.example:there:1\.0 came with another"):
        jars.fetch_jars()
    assert list(folder.iterdir()) == []
