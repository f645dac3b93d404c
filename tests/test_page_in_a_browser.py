"""The page of `report`, of a lake whose names attack, opened in a browser. No Spark."""

from pathlib import Path

import pytest
from browser import opened
from test_report_page import EVIL, NOW, Reader, entry, held_one, troubled

from dbt_debezium.page import page_of
from dbt_debezium.rounds.history import SPAN_SECONDS, LastRound, Rounds, Span
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.partition_ends import PartitionEnds
from dbt_debezium.status.published_rows import PublishedRows
from dbt_debezium.status.snapshot_reads import SnapshotReads

pytestmark = pytest.mark.slow

RUNS = "<script>document.title = 'ran'</script><img src=x onerror=\"document.title = 'ran'\">"
LATEST = int(NOW.timestamp()) // SPAN_SECONDS * SPAN_SECONDS


def full_page(name: str) -> str:
    """A page with something in each of its parts, of a source, tables and topics of this name."""
    found = troubled(name)
    found.report[0]["held"] += [
        held_one("snapshot 10", "snapshot_incomplete", table=name, has_landed=False),
        *(held_one(f"{name}:{number}", "follows_held_transaction") for number in range(300)),
    ]
    found.report += [entry("crm", committed_at="2026-11-20T00:00:00Z")]
    found.rows = [PublishedRows(name, name, 12_000, 2, "2026-11-28T11:57:00.000000Z")]
    found.sizes = {name: 34_943}
    found.snapshots = {name: [SnapshotReads(name, 812)]}
    found.partitions = {
        name: [
            PartitionEnds(f"{name}-0", 9_000, 300, 20, "9,012"),
            PartitionEnds(f"{name}-1", 8_000, 0, 90, None),
            PartitionEnds(f"{name}-2", 7_000, 0, 0, None),
        ]
    }
    spans = [
        Span(LATEST - age * SPAN_SECONDS, 20, age % 5 == 0, 500, 40, age, 9 * age)
        for age in reversed(range(90))
    ]
    last = [LastRound(7, LATEST, 12.5, "published", 214, 2, {"build": 10.2, "land": 1.4})]
    return page_of(found, None, name, NOW, Rounds(spans, last), 30)[1]


def test_no_script_of_a_name_runs_and_people_read_the_name(tmp_path: Path) -> None:
    name = RUNS + EVIL
    (tmp_path / "page.html").write_text(full_page(name), encoding="utf-8")
    document, log = opened((tmp_path / "page.html").as_uri())
    shown, written = Reader(document), Reader(full_page(name))
    assert shown.text == written.text
    assert [tag for tag, _ in shown.tags] == [tag for tag, _ in written.tags]
    assert shown.text.count(name) > 10
    assert "Content Security Policy" not in log, "nothing has tried"


def test_a_script_that_reached_the_page_would_not_run(tmp_path: Path) -> None:
    text = full_page("shop").replace("</body>", f"{RUNS}</body>")
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    document, log = opened((tmp_path / "page.html").as_uri())
    assert "<title>ran" not in document
    assert "violates the following Content Security Policy" in log


def test_a_browser_runs_scripts_of_a_page_without_our_policy(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<title>page</title>{RUNS}", encoding="utf-8")
    assert "<title>ran" in opened((tmp_path / "page.html").as_uri())[0]


def test_a_lake_without_anything_is_a_page_too(tmp_path: Path) -> None:
    text = page_of(LakeStatus([], 0, {}, {}), None, "lake", NOW)[1]
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    document, log = opened((tmp_path / "page.html").as_uri())
    assert "Nothing is published" in Reader(document).text
    assert "Content Security Policy" not in log
