"""The inbox takes all new dumps of a path or none, and each of them once."""

import errno
import json
import os
from pathlib import Path

import pytest

from dbt_debezium.dumps import refuse_early
from dbt_debezium.errors import DebeziumError
from dbt_debezium.landing import inbox as inboxes
from dbt_debezium.landing.inbox import Inbox, take


def message(offset: int) -> str:
    line = {"topic": "t", "partition": 0, "offset": offset, "key": None, "value": "x"}
    return json.dumps(line) + "\n"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "a.jsonl").write_text(message(1))
    return folder


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path / "inbox")


def names(tmp_path: Path) -> list[str]:
    return [file.name for file in (tmp_path / "inbox").iterdir()]


def test_one_file_that_is_refused_keeps_all_out(tmp_path: Path, dump: Path, inbox: Inbox) -> None:
    (dump / "b.jsonl").write_text(message(2) + "{")
    with pytest.raises(DebeziumError, match=r"b\.jsonl:2: not a message"):
        take(dump, inbox)
    assert names(tmp_path) == []
    (dump / "b.jsonl").write_text('{"op":"c","before":null}')
    with pytest.raises(DebeziumError, match=r"b\.jsonl: values only"):
        take(dump, inbox)
    assert not inbox.has_unread()


def test_a_small_dump_is_refused_before_spark_starts(dump: Path) -> None:
    (dump / "b.json").write_bytes(b"PK\x03\x04")
    refuse_early(dump)
    with pytest.raises(DebeziumError, match=r"b\.json: a zip archive"):
        refuse_early(dump / "b.json")
    (dump / "c.jsonl").write_text(message(2) + "{")
    with pytest.raises(DebeziumError, match=r"c\.jsonl:2: not a message"):
        refuse_early(dump)
    for name in ("a.jsonl", "c.jsonl"):
        (dump / name).unlink()
    with pytest.raises(DebeziumError, match=r"b\.json: a zip archive"):
        refuse_early(dump)
    (dump / "d.json").touch()
    with pytest.raises(DebeziumError, match=r"none of 2 files is a dump; the first: .*b\.json: a"):
        refuse_early(dump)


def test_what_is_no_dump_is_skipped_with_a_sentence(dump: Path, inbox: Inbox) -> None:
    (dump / "b.json").write_bytes(b"PK\x03\x04")
    (dump / "c.json").write_text('{\n  "name": "connector"\n}\n')
    (dump / "d.txt").touch()
    dumps, skipped = take(dump, inbox)
    assert [one.path.name for one in dumps] == ["a.jsonl"]
    b, c, d = skipped
    assert b == f"{dump / 'b.json'}: a zip archive; unpack it, and name the folder"
    assert c.startswith(f"{dump / 'c.json'}:1: not a message (Object missing required field")
    assert d.startswith(f"{dump / 'd.txt'}: empty; ")


def test_what_a_killed_landing_left_unfinished_is_removed(
    tmp_path: Path, dump: Path, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        (tmp_path / "inbox" / "_0").write_text("half a li")
        raise KeyboardInterrupt

    monkeypatch.setattr(inboxes, "read_dump", killed)
    with pytest.raises(KeyboardInterrupt):
        inbox.write(dump / "a.jsonl", lambda _: None)
    monkeypatch.undo()
    assert names(tmp_path) == ["_0"]
    assert not inbox.has_unread()
    take(dump, inbox)
    (entry,) = (tmp_path / "inbox").iterdir()
    assert json.loads(entry.read_text())["offset"] == 1


def test_an_entry_that_has_landed_is_known_and_empty(dump: Path, inbox: Inbox) -> None:
    take(dump, inbox)
    assert inbox.has_unread()
    inbox.empty(inbox.waiting())
    assert inbox.waiting() == set()
    assert not inbox.has_unread()
    (dump / "a.jsonl").rename(dump / "renamed.json")
    assert take(dump, inbox) == ([], ())


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, r"No space left on device\); the lake needs room"),
        (errno.EACCES, r"Permission denied\); the file must be readable, and the lake writable"),
    ],
)
def test_why_a_dump_cannot_be_kept_is_said(
    dump: Path, inbox: Inbox, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(inboxes.os, "fsync", refuse)
    with pytest.raises(DebeziumError, match=rf"a\.jsonl: cannot be copied to .*{said}"):
        take(dump, inbox)
    assert not inbox.has_unread()
