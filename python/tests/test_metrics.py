"""Metrics of a lake and of its rounds, read by the parser of Prometheus' own client."""

import re
import socket
import urllib.request
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families
from test_report_page import entry, health_of, troubled

from dbt_debezium.cli import main
from dbt_debezium.errors import DebeziumError
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.watching.metrics import GAUGES, PREFIX, MetricsFile, MetricsServer, text_of
from dbt_debezium.watching.watch import Seen
from dbt_debezium.writers.terminal import harmless

NASTY = 'a"b\\c\n{}é\x1b'


LABELS = ("version", "source", "outcome", "reason", "flag")


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """The values by name, without the prefix, and by the values of labels, in the order above."""
    return {
        (
            one.name.removeprefix("dbt_debezium_"),
            tuple(one.labels[label] for label in LABELS if label in one.labels),
        ): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_metrics_count_what_status_counts(tmp_path: Path) -> None:
    found = troubled()
    values = samples(text_of(Seen("lake", found, health=health_of(tmp_path, state="waiting"))))
    assert values["commit_number", ("shop",)] == 281
    assert values["committed_timestamp_seconds", ("shop",)] == 1_795_859_940
    assert values["messages", ("shop", "applied")] == 9
    assert values["held_transactions", ("shop", "missing_events")] == 1
    assert values["held_transactions", ("shop", "no_end")] == 1
    assert values["flagged_tables", ("shop", "no_baseline")] == 1
    quarantined = {key: value for key, value in values.items() if key[0] == "quarantined_messages"}
    assert sum(quarantined.values()) == len(found.report[0]["quarantined"])
    assert values["rounds_running", ()] == 1


def test_a_transaction_that_lacks_changes_of_two_tables_is_held_once(tmp_path: Path) -> None:
    [short, _] = troubled().report[0]["held"]
    held = [{**short, "table": table} for table in ("public.a", "public.b")]
    values = samples(text_of(Seen("lake", LakeStatus([entry(held=held)], 0, {}, {}))))
    assert values["held_transactions", ("shop", "missing_events")] == 1


def test_names_of_any_text_are_read_back_as_they_are() -> None:
    values = samples(text_of(Seen("lake", LakeStatus([entry(NASTY)], 0, {}, {}))))
    assert values["commit_number", (NASTY,)] == 281


def test_sources_whose_names_look_alike_have_series_of_their_own() -> None:
    names = ["a\x1b", "a\\x1b", "a\udce9"]
    text = text_of(Seen("lake", LakeStatus([entry(name) for name in names], 0, {}, {})))
    assert len([key for key in samples(text) if key[0] == "commit_number"]) == 3
    assert text.encode()


def test_status_prints_metrics_that_a_terminal_does_not_obey(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = import_module("dbt_debezium.cli.status")
    monkeypatch.setattr(command, "enter_lake", lambda _: None)
    found = LakeStatus([entry(NASTY)], 0, {}, {})
    monkeypatch.setattr(command, "look", lambda *_: found)
    ended = CliRunner().invoke(main, ["status", "--format", "prometheus"])
    assert ended.exit_code == 0, ended.output
    assert harmless(ended.output) == ended.output
    assert "commit_number" in ended.output


def test_metrics_of_a_lake_that_was_never_looked_at_name_the_version_alone() -> None:
    assert {name for name, _ in samples(text_of(Seen("lake")))} == {"info"}


def test_a_source_of_which_no_time_is_known_has_no_time() -> None:
    values = samples(text_of(Seen("lake", LakeStatus([entry(committed_at=None)], 0, {}, {}))))
    assert not any(name == "committed_timestamp_seconds" for name, _ in values)


def test_a_file_of_metrics_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "lake.prom"
    output = MetricsFile(file)
    for number in (1, 2):
        found = LakeStatus([entry(commit_number=number)], 0, {}, {})
        assert output.write(Seen("lake", found)) is None
        assert samples(file.read_text())["commit_number", ("shop",)] == number
    assert [path.name for path in tmp_path.iterdir()] == ["lake.prom"]


@pytest.fixture
def port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        found: int = server.getsockname()[1]
    return found


def test_a_port_answers_with_the_newest_metrics_on_loopback(port: int) -> None:
    server = MetricsServer(str(port))
    for number in (1, 2):
        server.write(Seen("lake", LakeStatus([entry(commit_number=number)], 0, {}, {})))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            assert samples(answer.read().decode())["commit_number", ("shop",)] == number


def test_a_port_that_is_taken_is_refused_with_its_number() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(DebeziumError, match=f"run: --metrics-port: {port} cannot be listened"):
            MetricsServer(str(port))


@pytest.mark.parametrize("address", ["x", "0", "65536", "localhost", "", "\uff11", "a:b", "-1"])
def test_what_is_no_port_is_refused(address: str) -> None:
    with pytest.raises(DebeziumError, match="is no port; write one as 9464"):
        MetricsServer(address)


REPOSITORY = Path(__file__).parents[2]
NAME = re.compile(r"\bdbt_debezium_[a-z_]+")


def test_the_page_of_metrics_lists_all_of_them() -> None:
    table = REPOSITORY / "docs" / "watching.md"
    listed = re.findall(r"^\| `(dbt_debezium_\w+)` \|([^|]*)\|", table.read_text(), re.MULTILINE)
    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in listed} == {
        PREFIX + gauge.name: {*gauge.labels} for gauge in GAUGES
    }


@pytest.mark.parametrize("file", ["alerts.yml", "dashboard.json"])
def test_rules_and_dashboard_ask_for_metrics_that_there_are(file: str) -> None:
    text = (REPOSITORY / "docs" / "prometheus" / file).read_text()
    assert set(NAME.findall(text)) <= {PREFIX + gauge.name for gauge in GAUGES}
