"""Commands that only look make nothing, and say that there is nothing to look at."""

import fcntl
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dbt_debezium.build import BUILD
from dbt_debezium.cli import COMMANDS, imported, main
from dbt_debezium.cli.preview import read_from
from dbt_debezium.home import CORE_MODEL, project_dir
from dbt_debezium.preview import Topics
from dbt_debezium.registry.block import RegistryBlock
from dbt_debezium.rounds.sources import NoSource


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["report", "lake.html"],
        ["query", "select 1"],
        ["query", "select 1", "--engine", "duckdb"],
        ["diff", "shop", "1"],
        ["scaffold"],
    ],
)
def test_a_folder_without_a_lake_is_refused_and_stays_as_it_is(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "mistyped"
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(lake))
    ended = CliRunner().invoke(main, command)
    assert ended.exit_code == 2
    assert f"lake: nothing has landed in {lake}; run `dbt-debezium land`" in ended.stderr
    assert not lake.exists()


def test_a_target_that_the_profile_lacks_is_refused_and_those_it_has_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    dump = project_dir() / "tests" / "data" / "reality" / "rpk_pretty"
    ended = CliRunner().invoke(main, ["land", str(dump), "--target", "nope"])
    assert ended.exit_code == 2
    assert "has no target 'nope'; there is: local, test, prod, connect\n" in ended.stderr


@pytest.mark.parametrize("command", [["maintain"], ["quarantine", "--retry"], ["run"]])
def test_what_another_run_refuses_is_refused_before_spark_starts(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    monkeypatch.setattr("dbt_debezium.spark.session.spark_session", pytest.fail)
    (tmp_path / "catalog.db").touch()
    with (tmp_path / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = CliRunner().invoke(main, command)
    assert ended.exit_code == 2
    assert f"lake: another run holds {tmp_path / 'run.lock'} (just started)" in ended.stderr


NO_SUCH = "no/such/file.jsonl"


@pytest.mark.parametrize(
    "command",
    [
        ["preview", NO_SUCH],
        ["preview", "\0"],
        ["preview", "."],
        ["preview", "garbage", "--group", "shop"],
        ["preview", "garbage", "--group", "[=shop"],
        ["preview", "garbage", "--export", "garbage"],
        ["land", NO_SUCH],
        ["land", "."],
        ["land", "garbage", "--target", "nope"],
        ["run", NO_SUCH],
        ["run", "--target", "nope"],
        ["run", "--every", "30"],
        ["run", "--every", "0s"],
        ["run", NO_SUCH, "--every", "30s"],
        ["run", "--json"],
        ["run", "--health-file", "health.json"],
        ["run", "--report", "no/such/lake.html"],
        ["run", "--every", "30s", "--report", "."],
        ["run", "--every", "30s", "--full-refresh"],
        ["run", "--every", "30s", "--select", "a"],
        ["status", "--target", "nope"],
        ["status", "--engine", "nope"],
        ["report"],
        ["report", "no/such/lake.html"],
        ["report", "lake.html", "--health-file", NO_SUCH],
        ["query", "select 1", "--target", "nope"],
        ["diff", "shop"],
        ["diff", "shop", "0"],
        ["diff", "shop", "1", "--transaction", "7"],
        ["scaffold", "--group", "shop"],
        ["signal", "public.orders"],
        ["signal", "public.orders", "--table", "s", "--kafka", "s"],
        ["signal", "public.orders", "--table", "s", "--connector", "nope"],
        ["signal", "public.orders", "--table", "s", "--condition", "nope"],
    ],
    ids=" ".join,
)
def test_bad_input_ends_a_command_with_a_sentence_and_no_traceback(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "garbage").write_bytes(b"\0\xff")
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, command)
    assert isinstance(ended.exception, SystemExit)
    assert ended.exit_code == 2
    assert ended.stderr.strip()
    assert "Traceback" not in ended.output


@pytest.mark.parametrize(
    ("settings", "has_models", "sentence"),
    [
        ("name: mine\n", False, "is of another dbt project"),
        ("vars: [\n", True, "cannot be read"),
        ("", True, "has no settings"),
        ("vars: [a]\n", True, "has no settings"),
    ],
)
@pytest.mark.parametrize("command", [["status"], ["preview", "dump.jsonl"], ["run"]])
def test_a_project_that_cannot_be_worked_in_is_refused(
    command: list[str],
    settings: str,
    has_models: bool,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "dbt_project.yml").write_text(settings)
    if has_models:
        (tmp_path / CORE_MODEL).parent.mkdir(parents=True)
        (tmp_path / CORE_MODEL).touch()
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, command)
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"project: {tmp_path / 'dbt_project.yml'}"), ended.stderr
    assert sentence in " ".join(ended.stderr.split())


@pytest.mark.parametrize("command", ["preview", "land"])
def test_a_place_that_is_not_read_is_named(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    ended = CliRunner().invoke(main, [command, "s3://bucket/dump"])
    assert ended.exit_code == 2
    assert ended.stderr.startswith("land: s3:// is not read yet; name a file or a folder")


def test_every_command_shows_an_example_that_click_takes() -> None:
    assert isinstance(main, click.Group)
    for name in COMMANDS:
        shown = CliRunner().invoke(main, [name, "--help"]).stdout
        _, _, examples = shown.partition("Examples:\n")
        lines = [line.strip() for line in examples.splitlines() if line.strip()]
        own = [line.partition("dbt-debezium ")[2] for line in lines if "dbt-debezium" in line]
        assert own, name
        for line in own:
            words = shlex.split(line.partition(" | ")[0])
            assert words[0] == name
            imported(name).make_context(name, words[1:])


def test_preview_asks_the_registry_that_is_named_beside_an_address() -> None:
    read = read_from("kafka://broker:9092", "shop[.].*", "http://registry:8081", None, False)
    assert isinstance(read, Topics)
    (block,) = read.blocks.values()
    assert block.registry == RegistryBlock("http://registry:8081")


@pytest.mark.parametrize("command", ["land", "preview", "run"])
@pytest.mark.parametrize("option", ["--topics", "--registry"])
def test_an_option_of_kafka_is_refused_beside_a_path(command: str, option: str) -> None:
    ended = CliRunner().invoke(main, [command, "dump", option, "http://registry:8081"])
    assert ended.exit_code == 2
    assert f"{option} goes with kafka://host:port; landing.yml names its own." in ended.stderr


@dataclass
class Given:
    """What `run` gave to the parts that it calls."""

    target: str | None = None
    """Of the session that lands."""
    inbox_of: str | None = None
    """The target whose inbox the source looks into."""
    source: str | None = None
    kafka: tuple[str | None, ...] = ()
    dbt: tuple[str, ...] = ()


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Given:
    """`run` without Spark: nothing lands, and nothing is built."""
    found = Given()

    class Everything(NoSource):
        def look(self, *_: object) -> bool:
            return True

    def read(source: str, *kafka: str | None, target: str | None, may_be_empty: bool) -> NoSource:
        found.source, found.kafka, found.inbox_of = source, kafka, target
        return Everything()

    def remember(target: str | None) -> None:
        found.target = target

    def build(arguments: Sequence[str], *_: object, **__: object) -> bool:
        found.dbt = tuple(arguments[len(BUILD) :])
        return False

    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    monkeypatch.setattr(import_module("dbt_debezium.cli.run"), "source_of", read)
    monkeypatch.setattr("dbt_debezium.spark.session.spark_session", remember)
    monkeypatch.setattr("dbt_debezium.rounds.round.run_dbt", build)
    return found


@pytest.mark.parametrize(
    "options",
    [
        ["--target", "test", "dump", "--full-refresh"],
        ["dump", "--target", "test", "--full-refresh"],
        ["dump", "--full-refresh", "--target", "test"],
        ["dump", "--full-refresh", "-t", "test"],
    ],
)
def test_run_lands_and_builds_in_one_target(options: list[str], given: Given) -> None:
    CliRunner().invoke(main, ["run", *options], catch_exceptions=False)
    assert given.source is not None
    assert given.source.endswith("/dump")
    assert given.target == given.inbox_of == "test"
    assert given.dbt == ("--full-refresh", "--target", "test")


def test_run_lands_the_topics_that_are_named_and_no_others(given: Given) -> None:
    address = ["kafka://broker:9092", "--topics", "shop[.].*", "--registry", "http://registry:1"]
    CliRunner().invoke(main, ["run", *address, "--threads", "4"], catch_exceptions=False)
    assert given.source == "kafka://broker:9092"
    assert given.kafka == ("shop[.].*", "http://registry:1")
    assert given.dbt == ("--threads", "4")


def test_a_value_of_an_option_of_dbt_is_no_source(given: Given) -> None:
    settings = "{landing_reaches_the_end: true}"
    CliRunner().invoke(main, ["run", "--vars", settings], catch_exceptions=False)
    assert given.source is None
    assert given.dbt == ("--vars", settings)
