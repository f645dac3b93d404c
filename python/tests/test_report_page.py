"""The page of `report` says what `status` says, to any reader, and needs nothing else."""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dbt_debezium.cli.console import out
from dbt_debezium.cli.status import say
from dbt_debezium.errors import DebeziumError
from dbt_debezium.page import page_of, runbook_address
from dbt_debezium.reasons import HELD, QUARANTINED
from dbt_debezium.replaced_file import check_place, write
from dbt_debezium.rounds.health import Health, RoundsHealth, read_health
from dbt_debezium.rounds.history import Rounds, Span
from dbt_debezium.status.lake_size import LakeSize
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.published_rows import PublishedRows
from dbt_debezium.status.report import OUTCOMES
from dbt_debezium.status.shapes import ShapeReport
from dbt_debezium.status.snapshot_reads import SnapshotReads
from dbt_debezium.watching.watch import PageFile, Watch

NOW = datetime(2026, 11, 28, 12, 0, 0, tzinfo=UTC)
EVIL = """<script>alert("a")</script>'&{{ 1 }}"""
"""A name that a message can have."""


def entry(source: str = "shop", **other: Any) -> dict[str, Any]:
    """A source of which everything is published."""
    return {
        "source": source,
        "commit_number": 281,
        "commit_position": "37105296",
        "transaction_id": "1691",
        "proof": "counted",
        "committed_at": "2026-11-28T09:59:00.000000Z",
        "decisions": [],
        "held": [],
        "counts": {"landed": 12, **dict.fromkeys(OUTCOMES, 0), "applied": 9, "control": 3},
        "quarantined": [],
        "flags": [],
        "accepted": [],
        "internal_topics": [],
        "connector": "postgresql",
        "has_end": True,
        "has_truncate": True,
        "encoded_columns": {},
        **other,
    }


def troubled(name: str = "shop") -> LakeStatus:
    """A lake of which there is something to say in each part."""
    landed = {"committed_at": None, "commit_position": None, "has_landed": True, "lacking": [],
              "is_passed": False}  # fmt: skip
    held = [
        {"transaction_id": "1692", "reason": "missing_events", "table": f"public.{name}",
         "expected": 15, "received": 12, **landed},
        {"transaction_id": f"{name}:7", "reason": "no_end", "table": None, "expected": None,
         "received": None, **landed},
    ]  # fmt: skip
    quarantined = [
        {
            "topic": f"{name}.t",
            "partition": 1,
            "offset": at,
            "reason": reason,
            "detail": None,
            "accepted": None,
        }
        for at, reason in ((7, "bad_json"), (8, "bad_json"), (9, "too_deep"))
    ]
    one = entry(
        name,
        held=held,
        quarantined=quarantined,
        flags=[
            {"table": f"public.{name}", "flag": "no_baseline", "detail": None, "accepted": None}
        ],
        decisions=[f"transaction 3: release by Ann on 2026-11-21 ({name})"],
        has_truncate=False,
        encoded_columns={f"public.{name}": {"at": "days"}},
    )
    shape = ShapeReport({f"public.{name}": ["note"]}, {f"public.{name}_old": {"a"}})
    return LakeStatus(
        [one], 0, {name: shape}, {name: {f"{name}_t": 2}}, [f"{name}: the latest run has failed"]
    )


def held_one(transaction_id: str, reason: str, **other: Any) -> dict[str, Any]:
    """An entry of what is held."""
    return {
        "transaction_id": transaction_id,
        "reason": reason,
        "table": None,
        "expected": None,
        "received": None,
        "committed_at": None,
        "commit_position": None,
        "has_landed": True,
        "lacking": [],
        "is_passed": False,
        **other,
    }


def page(found: LakeStatus, health: RoundsHealth | None = None) -> str:
    return page_of(found, health, "lake", NOW)[1]


class Reader(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def said_by_status(found: LakeStatus) -> list[str]:
    """The lines that `status` prints below its first sentence and its table."""
    with out.capture() as captured:
        say(found)
    return captured.get().splitlines()[2 + len(found.report) :]


def test_each_sentence_that_status_prints_is_on_the_page() -> None:
    found = troubled()
    said = said_by_status(found)
    assert len(said) >= 10
    text = Reader(page(found)).text
    assert [one for one in said if " ".join(one.split()) not in text] == []


def test_the_page_says_what_each_reason_to_hold_asks_for() -> None:
    text = Reader(page(troubled())).text
    assert "12 of 15 changes of public.shop have landed (missing_events); land the topic" in text
    assert "transaction shop:7 is held: its END has not landed (no_end); land the" in text


def test_what_waits_is_one_line_for_each_reason() -> None:
    at = "2026-11-28T{}:00:00.000000Z".format
    short = {"expected": 15, "received": 12}
    held = [
        held_one("1692", "missing_events", committed_at=at("11"), table="public.a", **short),
        held_one("1692", "missing_events", committed_at=at("11"), table="public.b", **short),
        held_one("1693", "follows_held_transaction", committed_at=at("11")),
        held_one("1694", "missing_events", committed_at=at("09"), table="public.a", **short),
        *(held_one(str(number), "follows_held_transaction") for number in range(1700, 2000)),
    ]
    text = Reader(page(LakeStatus([entry(held=held)], 0, {}, {}))).text
    assert (
        "missing_events 2 2026-11-28 09:00:00 UTC, 3 hours ago transaction 1692 "
        "public.a: 24 of 30, public.b: 12 of 15 follows_held_transaction 301 "
        "2026-11-28 11:00:00 UTC, 60 minutes ago transaction 1693"
    ) in text
    assert "1701" not in text


def test_each_source_says_what_its_readers_see_and_how_far_that_is_behind() -> None:
    held = [held_one("1692", "no_end", committed_at="2026-11-28T10:00:30Z")]
    text = Reader(page(LakeStatus([entry(held=held), entry("b", commit_number=0)], 0, {}, {}))).text
    assert (
        "Readers see commit 281 of 2026-11-28 09:59:00 UTC, 2 hours ago; commits have landed that "
        "are up to 90 seconds newer, and wait."
    ) in text
    assert "Readers see nothing of it yet." in text


def test_a_commit_less_than_a_second_newer_is_not_measured_in_seconds() -> None:
    held = [held_one("1692", "no_end", committed_at="2026-11-28T09:59:00.400000Z")]
    text = Reader(page(LakeStatus([entry(held=held)], 0, {}, {}))).text
    assert "2 hours ago; newer commits have landed and wait." in text


def test_rounds_of_one_day_are_plotted_once() -> None:
    def titles(age: int) -> list[str]:
        spans = [Span(int(NOW.timestamp()) - age, 1)]
        _, text = page_of(LakeStatus([entry()], 0, {}, {}), None, "lake", NOW, Rounds(spans))
        return re.findall("<h3>(Last .*)</h3>", text)

    assert titles(3_600) == ["Last day"]
    assert titles(2 * 86_400) == ["Last day", "Last week"]


def test_a_held_snapshot_shows_what_has_landed_of_each_table() -> None:
    lacking = {
        "topic": "shop.public.b", "partition": 1, "what": "partition", "first_offset": None,
        "last_offset": None,
    }  # fmt: skip
    held = [
        held_one("snapshot 10", "snapshot_incomplete", table="public.b", lacking=[lacking]),
        held_one("snapshot 10", "snapshot_incomplete", table="public.c", has_landed=False),
    ]
    reads = [SnapshotReads("public.a", 12_000), SnapshotReads("public.b", 7)]
    found = LakeStatus([entry(held=held)], 0, {}, {}, snapshots={"shop": reads})
    assert (
        "public.a 12,000 public.b 7 partition 1 of shop.public.b has not landed "
        "public.c 0 nothing of it has landed"
    ) in Reader(page(found)).text


def test_tables_have_rows_of_their_source_sizes_and_ages_the_largest_first() -> None:
    rows = [
        PublishedRows("items", "shop", 3),
        PublishedRows("orders", "shop", 12_000, newest_at="2026-11-28T11:57:00.000000Z"),
        PublishedRows("orders", "b", 5),
    ]
    report = [entry(), entry("b")]
    found = LakeStatus(report, 0, {}, {}, rows=rows, sizes={"orders": 34_943})
    text = Reader(page(found)).text
    assert "orders 12,000 35 kB 3 minutes ago items 3" in text
    assert "orders 5 35 kB" in text


def test_the_page_says_what_the_lake_stores_and_when_it_was_maintained() -> None:
    stored = {"landed messages": 12_345_678, "changes": 4_000}
    found = troubled("shop")
    assert "The lake" not in Reader(page(found)).text
    found.size = LakeSize(stored, "2026-11-28T10:00:00Z")
    text = Reader(page(found)).text
    assert "landed messages 12 MB changes 4.0 kB last maintained 2026-11-28 10:00:00 UTC, " in text
    found.size = LakeSize(stored)
    assert "last maintained never" in Reader(page(found)).text


def test_the_page_counts_quarantined_messages_by_reason() -> None:
    text = Reader(page(troubled())).text
    assert "bad_json 2" in text
    assert "too_deep 1" in text


def test_the_page_says_why_a_quarantined_message_is_counted_and_not_listed() -> None:
    said = "stays counted as one after a copy that can be read has landed"
    assert said not in Reader(page(LakeStatus([entry()], 0, {}, {}))).text
    counts = entry()["counts"] | {"landed": 13, "quarantined": 1}
    assert said in Reader(page(LakeStatus([entry(counts=counts)], 0, {}, {}))).text
    listed = troubled().report[0]["quarantined"][:1]
    found = LakeStatus([entry(counts=counts, quarantined=listed)], 0, {}, {})
    assert said not in Reader(page(found)).text


def test_names_from_messages_are_text_and_nothing_else() -> None:
    harmless, evil = Reader(page(troubled("shop"))), Reader(page(troubled(EVIL)))
    assert [tag for tag, _ in evil.tags] == [tag for tag, _ in harmless.tags]
    assert evil.text.count(EVIL) == harmless.text.count("shop") > 10


def test_the_page_needs_no_script_and_no_other_file() -> None:
    text = page(troubled())
    tags = Reader(text).tags
    assert {"script", "link", "img", "iframe"}.isdisjoint(tag for tag, _ in tags)
    assert [one for _, attributes in tags for one in attributes if one == "src"] == []
    assert re.search(r"url\(|@import", text) is None
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text


def test_the_only_links_of_the_page_lead_to_entries_of_the_runbook() -> None:
    found = [one["href"] for _, one in Reader(page(troubled())).tags if "href" in one]
    assert found
    for address in found:
        place, _, reason = str(address).partition("#")
        assert place == runbook_address()
        assert reason in HELD.keys() | QUARANTINED.keys()
    assert runbook_address().endswith("/docs/runbook.md")


def test_a_lake_of_which_there_is_nothing_to_say_is_well() -> None:
    summary, text = page_of(LakeStatus([entry(), entry("b")], 0, {}, {}), None, "lake", NOW)
    assert summary.level == "well"
    assert summary.sentence == (
        "All is well: 2 sources are published, and nothing is held, quarantined or flagged; "
        "newest commit 2 hours ago."
    )
    assert summary.sentence in Reader(text).text
    assert "2026-11-28 09:59:00 UTC, 2 hours ago" in text


def test_a_lake_that_only_holds_is_waiting() -> None:
    held = troubled().report[0]["held"]
    summary, _ = page_of(LakeStatus([entry(held=held)], 0, {}, {}), None, "lake", NOW)
    assert summary.level == "waiting"
    assert summary.sentence == (
        "All is well so far: 2 transactions are held, and nothing else; newest commit 2 hours ago."
    )


def test_the_first_sentence_counts_what_is_not_well() -> None:
    summary, _ = page_of(troubled(), None, "lake", NOW)
    assert summary.level == "wrong"
    assert summary.sentence == (
        "Not all is well: 3 messages are quarantined, 1 table is flagged, "
        "6 more matters need a look and 2 transactions are held; newest commit 2 hours ago."
    )


@pytest.mark.parametrize(
    ("committed_at", "said"),
    [
        (
            ["2026-11-28T11:57:00.000000Z", "2026-11-20T00:00:00Z"],
            "; newest commit 3 minutes ago, that of shop_2 8 days ago.",
        ),
        (["2026-11-28T11:57:00Z", "2026-11-28T11:01:00Z"], "; newest commit 3 minutes ago."),
        (["2026-11-28T09:00:00Z", "2026-11-28T04:00:00Z"], "; newest commit 3 hours ago."),
        (
            ["2026-11-28T11:57:00Z", *(f"2026-11-{day}T00:00:00Z" for day in range(20, 25))],
            "; newest commit 3 minutes ago, that of shop_2 8 days ago, that of shop_3 7 days ago, "
            "that of shop_4 6 days ago, and 2 sources more over 63 minutes ago.",
        ),
        (["2026-11-20T00:00:00Z", None], "; newest commit 8 days ago."),
        (["2026-11-28T12:01:00Z"], "; newest commit by a clock that is ahead of this one."),
        (
            ["+10000-01-01T00:00:00.000000Z", "2026-11-20T00:00:00Z"],
            "; newest commit 8 days ago.",
        ),
        (["+10000-01-01T00:00:00.000000Z"], "quarantined or flagged."),
        ([None], "quarantined or flagged."),
    ],
)
def test_the_first_sentence_says_how_old_the_newest_commit_is(
    committed_at: list[str | None], said: str
) -> None:
    """Rounds that bring nothing for days are else as well as those of a minute ago."""
    report = [entry(f"shop_{number}", committed_at=at) for number, at in enumerate(committed_at, 1)]
    summary, _ = page_of(LakeStatus(report, 0, {}, {}), None, "lake", NOW)
    assert summary.level == "well"
    assert summary.sentence.endswith(said)


def test_what_may_be_missing_for_all_tables_is_not_well_until_a_setting_says_otherwise() -> None:
    """A connector that leaves out TRUNCATE says so nowhere."""
    found = LakeStatus([entry(has_truncate=False)], 0, {}, {})
    summary, text = page_of(found, None, "lake", NOW)
    assert summary.sentence.startswith("Not all is well: 1 more matter needs a look; newest")
    assert "no TRUNCATE has been published" in Reader(text).text
    found.without_truncate = ["shop"]
    assert page_of(found, None, "lake", NOW)[0].level == "well"


def test_a_lake_of_which_nothing_is_published_says_so() -> None:
    summary, text = page_of(LakeStatus([], 1_200, {}, {}), None, "lake", NOW)
    assert summary.level == "wrong"
    assert "Nothing is published: 1,200 messages have landed" in Reader(text).text


def test_the_outcomes_of_all_sources_add_up_to_what_has_landed() -> None:
    text = Reader(page(LakeStatus([entry(), entry("b")], 0, {}, {}))).text
    assert "all 24 18 0 0 0 6 0 0" in text


def health_of(tmp_path: Path, **changes: Any) -> RoundsHealth:
    """A health file as the rounds write it, with some fields changed."""
    file = tmp_path / "health.json"
    Health(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    health = read_health(file)
    assert health is not None
    return health


@pytest.mark.parametrize(
    ("changes", "level", "sentence"),
    [
        ({"state": "waiting", "next_round_at": "2026-11-28T12:00:20Z"}, "well", "state waiting"),
        ({"state": "waiting", "next_round_at": "2026-11-28T11:58:00Z"}, "well", "state waiting"),
        (
            {"state": "waiting", "next_round_at": "2026-11-28T11:48:00Z"},
            "wrong",
            "rounds: one was due 12 minutes ago and has not ended",
        ),
        (
            {"state": "failing", "failed_rounds": 3, "last_error": "land: the broker is silent"},
            "wrong",
            "rounds: the last 3 rounds have failed: land: the broker is silent",
        ),
        ({"state": "ended"}, "wrong", "rounds: `dbt-debezium run --every` has ended"),
    ],
)
def test_the_page_says_how_the_rounds_are(
    changes: dict[str, Any], level: str, sentence: str, tmp_path: Path
) -> None:
    summary, text = page_of(
        LakeStatus([entry()], 0, {}, {}), health_of(tmp_path, **changes), "lake", NOW
    )
    assert summary.level == level
    assert sentence in Reader(text).text


def test_a_lake_without_rounds_has_no_health_and_a_file_of_something_else_is_refused(
    tmp_path: Path,
) -> None:
    assert read_health(tmp_path / "health.json") is None
    (tmp_path / "health.json").write_text('{"state": 1}')
    with pytest.raises(DebeziumError, match="cannot be read as a health file"):
        read_health(tmp_path / "health.json")


@pytest.mark.parametrize("at", ["yesterday", "2026-11-28T12:00:00", "2026-11-28", ""])
def test_a_health_file_whose_times_are_none_is_refused(at: str, tmp_path: Path) -> None:
    for field in ("next_round_at", "up_to_date_at"):
        with pytest.raises(DebeziumError, match=rf"as a health file .*`\$.{field}`"):
            health_of(tmp_path, **{field: at})


def test_rounds_that_failed_and_then_died_are_said_to_have_done_both(tmp_path: Path) -> None:
    said = {"state": "failing", "failed_rounds": 1, "last_error": "land: silent"}
    health = health_of(tmp_path, **said, next_round_at="2026-11-27T12:00:00Z")
    text = Reader(page(LakeStatus([entry()], 0, {}, {}), health)).text
    assert "rounds: the last round has failed: land: silent" in text
    assert "rounds: one was due 24 hours ago and has not ended" in text


def test_a_page_replaces_what_a_link_leads_to_and_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "lake.html")
    write(tmp_path / "link.html", "new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "lake.html").read_text() == "new"


def test_a_page_is_written_for_any_name_that_a_lake_has(tmp_path: Path) -> None:
    write(tmp_path / "lake.html", page_of(troubled(), None, os.fsdecode(b"b\xff\n"), NOW)[1])
    assert "Lake <bdi>b\\udcff" in (tmp_path / "lake.html").read_text()


@pytest.mark.parametrize("kind", ["folder", "pipe", "root"])
def test_what_is_no_file_is_not_replaced_by_a_page(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "a" if kind != "root" else Path("/")
    if kind == "folder":
        place.mkdir()
    if kind == "pipe":
        os.mkfifo(place)
    for attempt in (lambda: write(place, "new"), lambda: check_place(place)):
        with pytest.raises(DebeziumError, match=f"report: {place} is no file; name one"):
            attempt()
    assert not place.is_file()


def test_a_page_that_could_not_be_finished_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lake.html").write_text("before")
    (tmp_path / "_lake.html").write_text("of somebody else")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DebeziumError, match=r"cannot be written \(No space left on device\)"):
        write(tmp_path / "lake.html", "new")
    there = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert there == {"lake.html": "before", "_lake.html": "of somebody else"}


def test_what_is_committed_by_a_clock_that_is_ahead_is_said_to_be() -> None:
    ahead = (NOW + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    text = page(LakeStatus([entry(committed_at=ahead)], 0, {}, {}))
    assert "2026-11-29 12:00:00 UTC, by a clock that is ahead of this one" in text


def test_a_place_for_a_page_is_looked_at_without_a_trace(tmp_path: Path) -> None:
    check_place(tmp_path / "lake.html")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DebeziumError, match="cannot be written"):
        check_place(tmp_path / "no" / "lake.html")


class Kept:
    """A page that is kept, of a lake that can be looked at until it is away."""

    def __init__(self, tmp_path: Path) -> None:
        self.file = tmp_path / "lake.html"
        self.away: Exception | None = None
        self.looks = 0
        self._health = health_of(tmp_path, state="waiting")
        self.page = Watch("lake", self.look, lambda: self._health, [PageFile(self.file)], str)

    def look(self) -> LakeStatus:
        self.looks += 1
        if self.away:
            raise self.away
        return LakeStatus([entry()], 0, {}, {}, [f"look {self.looks}"])

    def fail(self) -> None:
        """Note in the health of the rounds that one has failed."""
        self._health = replace(self._health, state="failing", failed_rounds=1, last_error="silent")

    @property
    def text(self) -> str:
        return Reader(self.file.read_text()).text


def test_a_page_is_as_new_as_the_lake_and_the_rounds_without_a_look_for_no_news(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path)
    assert kept.page.write(may_have_changed=False) == []
    assert "look 1" in kept.text
    kept.fail()
    assert kept.page.write(may_have_changed=False) == []
    assert kept.looks == 1
    assert "look 1" in kept.text
    assert "rounds: the last round has failed: silent" in kept.text
    assert kept.page.write() == []
    assert "look 2" in kept.text


def test_a_page_shows_the_lake_as_it_was_while_it_is_away_and_says_why_once(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.page.write()
    kept.away = DebeziumError("catalog: http://a is away; start it")
    [said], *later = [kept.page.write() for _ in range(3)]
    assert re.fullmatch(
        rf"report: {kept.file} shows the lake of .* UTC: catalog: http://a is away; start it",
        said,
    )
    assert later == [[], []]
    assert "look 1" in kept.text
    assert said in kept.text
    kept.away = DebeziumError("catalog: it refuses the keys; write others")
    assert "refuses the keys" in kept.page.write(may_have_changed=False)[0]
    kept.away = None
    assert kept.page.write(may_have_changed=False) == []
    assert "look 6" in kept.text
    assert "shows the lake of" not in kept.text


def test_no_page_is_written_of_a_lake_that_was_never_looked_at(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.away = DebeziumError("lake: nothing has landed; land")
    assert kept.page.write() == [
        f"report: {kept.file} is not written: lake: nothing has landed; land"
    ]
    assert kept.page.write() == []
    assert kept.page.show() == []
    assert not kept.file.exists()


def test_a_page_that_cannot_be_written_for_a_while_is_said_once_and_written_later(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path)
    kept.file.mkdir()
    sentence = f"report: {kept.file} is no file; name one that may be replaced"
    assert [kept.page.write() for _ in range(3)] == [[sentence], [], []]
    kept.file.rmdir()
    assert kept.page.show() == []
    assert "look 3" in kept.text
    kept.file.unlink()
    kept.file.mkdir()
    assert kept.page.show() == [sentence]
