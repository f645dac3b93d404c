"""The command of alerts: called once when something begins, worsens or ends."""

import json
import os
import re
import resource
import shutil
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from test_report_page import NOW, entry, health_of

import dbt_debezium.watching.on_change as on_change_module
from dbt_debezium.errors import DebeziumError
from dbt_debezium.rounds.health import OldestHeld
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.watching.on_change import OnChange
from dbt_debezium.watching.watch import Seen
from dbt_debezium.writers.terminal import harmless


class Alert:
    """A command that keeps what it was given, and the rounds that call it."""

    def __init__(self, folder: Path, script: str = "") -> None:
        self.calls = folder / "calls.jsonl"
        self.program = folder / "alert with spaces"
        self.program.write_text(
            f"#!{sys.executable}\nimport sys\n{script or self._keeping()}\n", encoding="utf-8"
        )
        self.program.chmod(stat.S_IRWXU)
        self.memory = folder / "on_change.json"
        self.health = health_of(folder, state="waiting")
        self.begin()

    def _keeping(self) -> str:
        return f"open({str(self.calls)!r}, 'ab').write(sys.stdin.buffer.read())"

    def begin(self) -> None:
        """Start the process of the rounds, anew after the first time."""
        self.output = OnChange(f"'{self.program}'", self.memory)

    def round(self, *reasons: str, failures: int = 0, **other: Any) -> list[tuple[str, ...]]:
        """A round after which messages are quarantined for these reasons; what was called."""
        quarantined = [
            {
                "topic": "t",
                "partition": 0,
                "offset": at,
                "reason": reason,
                "detail": None,
                "accepted": None,
            }
            for at, reason in enumerate(reasons)
        ]
        found = LakeStatus([entry(quarantined=quarantined, **other)], 0, {}, {})
        health = replace(self.health, failed_rounds=failures, last_error="broker: away")
        before = len(self.calls_made())
        self.output.write(Seen("lake", found, health=health))
        return [(one["event"], one["kind"], one["what"]) for one in self.called(before)]

    def calls_made(self) -> list[dict[str, Any]]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [json.loads(line) for line in lines]

    def called(self, start: int = 0) -> list[dict[str, Any]]:
        """The changes that it was called for, from a call on."""
        return [change for call in self.calls_made()[start:] for change in call["changes"]]


def test_a_command_is_called_once_when_something_begins_worsens_and_ends(tmp_path: Path) -> None:
    alert = Alert(tmp_path)
    assert alert.round() == []
    assert alert.round("not_json") == [("begins", "quarantined", "not_json")]
    assert alert.round("not_json") == []
    assert alert.round("not_json", "not_json") == [("worsens", "quarantined", "not_json")]
    assert alert.round("not_json") == []
    assert alert.round() == [("ends", "quarantined", "not_json")]
    assert alert.round() == []


def test_a_round_calls_the_command_once_for_whatever_has_changed(tmp_path: Path) -> None:
    """Names come from the data: with a call for each, whoever makes some holds up the rounds."""
    alert = Alert(tmp_path)
    flags = [
        {"table": f"public.t{at}", "flag": "no_baseline", "detail": None, "accepted": None}
        for at in range(300)
    ]
    assert len(alert.round("not_json", flags=flags)) == 301
    assert len(alert.calls_made()) == 1
    assert len(alert.round("not_json", "not_json")) == 301
    assert len(alert.calls_made()) == 2


def test_a_restart_repeats_no_call(tmp_path: Path) -> None:
    alert = Alert(tmp_path)
    assert alert.round("not_json")
    alert.begin()
    assert alert.round("not_json") == []
    assert alert.round() == [("ends", "quarantined", "not_json")]


def test_one_failed_round_is_no_alert_and_two_are(tmp_path: Path) -> None:
    alert = Alert(tmp_path)
    assert [alert.round(failures=number) for number in (1, 2, 3, 4, 0)] == [
        [],
        [("begins", "rounds_failed", None)],
        [],
        [("worsens", "rounds_failed", None)],
        [("ends", "rounds_failed", None)],
    ]


def test_the_command_reads_who_what_and_the_sentence_of_status(tmp_path: Path) -> None:
    alert = Alert(tmp_path)
    alert.round(
        flags=[{"table": "public.orders", "flag": "no_baseline", "detail": None, "accepted": None}]
    )
    [call] = alert.calls_made()
    assert call.pop("at").endswith("Z")
    [change] = call.pop("changes")
    assert call == {"lake": "lake"}
    sentence = change.pop("sentence")
    assert sentence.startswith("shop: ")
    assert "public.orders" in sentence
    assert change == {
        "event": "begins",
        "kind": "flagged",
        "source": "shop",
        "what": "public.orders: no_baseline",
        "size": 1,
    }


def test_text_of_the_data_reaches_the_command_on_its_input_alone(tmp_path: Path) -> None:
    alert = Alert(tmp_path, f"open({str(tmp_path / 'arguments')!r}, 'w').write(str(sys.argv[1:]))")
    alert.round(
        flags=[
            {
                "table": "public.$(touch x); touch y",
                "flag": "no_baseline",
                "detail": None,
                "accepted": None,
            }
        ]
    )
    assert (tmp_path / "arguments").read_text() == "[]"
    assert not (tmp_path / "x").exists()


def test_a_command_that_fails_is_called_again_in_the_next_round(tmp_path: Path) -> None:
    alert = Alert(tmp_path, "sys.exit('no route\\nto mail')")
    for _ in range(2):
        with pytest.raises(DebeziumError, match="ended with 1: no route to mail; it is called"):
            alert.round("not_json")
    alert.program.write_text(f"#!{sys.executable}\nimport sys\n{alert._keeping()}\n")
    assert alert.round("not_json") == [("begins", "quarantined", "not_json")]


def test_a_command_that_hangs_is_ended_with_what_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_change_module, "LONGEST_SECONDS", 1)
    script = "import os, subprocess\nsubprocess.run(['sleep', '600'])"
    alert = Alert(tmp_path, script)
    with pytest.raises(DebeziumError, match="has not ended within 1 seconds; it is called again"):
        alert.round("not_json")


def test_a_command_that_leaves_another_process_behind_has_ended(tmp_path: Path) -> None:
    """As a script does whose last line ends in `&`."""
    script = "import subprocess\nsubprocess.Popen(['sleep', '60'])"
    alert = Alert(tmp_path, f"{script}\nopen({str(tmp_path / 'calls')!r}, 'a').write('1')")
    began = time.monotonic()
    for _ in range(2):
        alert.round("not_json")
    assert time.monotonic() - began < 20
    assert (tmp_path / "calls").read_text() == "1"


def test_a_command_that_writes_without_end_costs_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_change_module, "LONGEST_SECONDS", 1)
    alert = Alert(tmp_path, "while True: print('x' * 10_000)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DebeziumError, match="has not ended within 1 seconds"):
        alert.round("not_json")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    alert = Alert(tmp_path)
    alert.program.unlink()
    with pytest.raises(DebeziumError, match="alert with spaces cannot be started"):
        alert.round("not_json")


@pytest.mark.parametrize(
    ("command", "why"),
    [("", "is empty"), ("a 'b", "is no command"), ("./nowhere.sh -v", "nowhere.sh is no program")],
)
def test_what_is_no_command_is_refused(command: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(DebeziumError, match=f"run: --on-change: .*{why}"):
        OnChange(command, tmp_path / "memory")


def test_a_memory_that_cannot_be_read_says_how_to_begin_anew(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("{")
    with pytest.raises(DebeziumError, match="remove it, and what is wrong is reported again"):
        OnChange("true", tmp_path / "memory")


def test_readers_that_stand_still_for_five_minutes_are_an_alert_with_its_cause(
    tmp_path: Path,
) -> None:
    alert = Alert(tmp_path)
    held = [{"transaction_id": "7", "reason": "no_end", "table": None, "expected": None,
             "received": None, "commit_position": None, "committed_at": None, "has_landed": True,
             "lacking": [], "is_passed": False}]  # fmt: skip
    oldest = OldestHeld("shop", "7", "no_end", NOW)
    calls = []
    for seconds in (299, 300, 400, 600):
        alert.health = replace(alert.health, readers_behind_seconds=seconds, oldest_held=oldest)
        calls.append(alert.round(held=held))
    assert calls == [
        [],
        [("begins", "readers_behind", "no_end")],
        [],
        [("worsens", "readers_behind", "no_end")],
    ]
    assert "readers have lacked something for 5 minutes; shop: " in alert.called()[0]["sentence"]


@pytest.mark.parametrize("table", ["a\x9b31m\u202e\x1b", "a\udce9"])
def test_the_command_reads_json_that_a_terminal_does_not_obey(tmp_path: Path, table: str) -> None:
    alert = Alert(tmp_path)
    flag = {"table": table, "flag": "no_baseline", "detail": None, "accepted": None}
    assert alert.round(flags=[flag]) == [("begins", "flagged", f"{table}: no_baseline")]
    text = alert.calls.read_text(encoding="utf-8")
    assert harmless(text) == text
    alert.begin()
    assert alert.round(flags=[flag]) == []


def test_what_a_lake_holds_has_not_ended_while_nobody_can_look_at_it(tmp_path: Path) -> None:
    alert = Alert(tmp_path)
    flag = {"table": "public.t", "flag": "no_baseline", "detail": None, "accepted": None}
    assert len(alert.round("not_json", flags=[flag], failures=2)) == 3
    alert.begin()
    before = len(alert.calls_made())
    alert.output.write(Seen("lake", None, unseen="lake: away", health=alert.health))
    assert [(one["event"], one["kind"]) for one in alert.called(before)] == [
        ("ends", "rounds_failed")
    ]
    assert alert.round("not_json", flags=[flag]) == []
    assert {kind for _, kind, _ in alert.round()} == {"quarantined", "flagged"}


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
@pytest.mark.parametrize(("program", "subject"), [("curl", None), ("mail", "dbt-debezium: 2 ")])
def test_a_recipe_of_the_page_sends_the_sentence_of_each_change(
    program: str, subject: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of the program that sends there is one that keeps what it gets."""
    page = (Path(__file__).parents[2] / "docs" / "watching.md").read_text()
    recipes = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (recipe,) = [one for one in recipes if program in one]
    alert = tmp_path / "alert.sh"
    alert.write_text(recipe)
    sender = tmp_path / "bin" / program
    sender.parent.mkdir()
    sender.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > arguments\ncat > sent\n')
    for one in (alert, sender):
        one.chmod(stat.S_IRWXU)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{sender.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SLACK_WEBHOOK", "https://hooks.example/1")
    called = Alert(tmp_path)
    called.output = OnChange(str(alert), called.memory)
    called.round("bad_json", "too_deep")
    sent = (tmp_path / "sent").read_text()
    text = json.loads(sent)["text"] if program == "curl" else sent
    lines = text.splitlines()
    assert [line[:14] for line in lines] == ["begins: shop: "] * 2
    assert "bad_json" in lines[0]
    assert "too_deep" in lines[1]
    assert (subject or "https://hooks.example/1") in (tmp_path / "arguments").read_text()
