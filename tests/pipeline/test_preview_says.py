"""What `preview` prints of a dump in which a table cannot be built and messages cannot be read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_faults import Source, create, signal_row, update

from dbt_debezium.cli import main

pytestmark = pytest.mark.slow

TENANTS = ("tenant_1", "tenant_2")


def tenant(source: Source) -> None:
    source.commit(1, 1000, create(1, 1), create(2, int(source.name[-1])))
    source.commit(2, 2000, update(1, 2))


def shop(source: Source) -> None:
    source.commit(1, 1000, create(1, 1), create(5, row={"id": 5, "_row_key": "x"}, table="bad"))
    source.commit(2, 2000, signal_row("s", "execute-snapshot", "{}"), create(3, 3))
    source.commit(3, 3000, create(1, 1, table="extra"))
    for text in ("{", "{]", "{"):
        source.send("public.t", {"id": 1}, text)
    source.commit(4, 4000, update(1, 3), sent="begin events")


def no_end_at_all(source: Source) -> None:
    source.commit(1, 1000, create(1, 1, table="other"), sent="events")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    makers: dict[str, Callable[[Source], None]] = {
        **dict.fromkeys(TENANTS, tenant),
        "shop": shop,
        "no_end": no_end_at_all,
    }
    messages = []
    for name, maker in makers.items():
        source = Source(name)
        maker(source)
        messages += source.messages
    internal = {"topic": "_schemas", "partition": 0, "offset": 0, "key": "{}", "value": "{}"}
    dump = tmp_path_factory.mktemp("dump") / "dump.jsonl"
    dump.write_text("".join(f"{json.dumps(one)}\n" for one in [*messages, internal]))
    ended = CliRunner().invoke(main, ["preview", str(dump)])
    assert ended.exit_code == 0, ended.output
    return ended.stdout.splitlines()


def test_two_messages_of_one_place_end_preview_with_a_sentence(tmp_path: Path) -> None:
    """As after a topic was recreated, or in dumps of two clusters."""
    messages = []
    for id in (1, 2):
        source = Source("again")
        source.commit(id, 1000 * id, create(id, 1))
        messages += source.messages
    dump = tmp_path / "dump.jsonl"
    dump.write_text("".join(f"{json.dumps(one)}\n" for one in messages))
    ended = CliRunner().invoke(main, ["preview", str(dump)])
    assert ended.exit_code == 2, ended.output
    (line,) = ended.stderr.strip().splitlines()[-1:]
    assert line.startswith(f"preview: {dump}: topic again.public.t, partition 0, offset 0 has two")


def line_of(said: list[str], begin: str) -> str:
    (line,) = (line for line in said if line.startswith(begin))
    return line


def table_of(said: list[str], begin: str) -> list[list[str]]:
    """The rows that are shown below a table's name, with their head."""
    (at,) = (number for number, line in enumerate(said) if line.startswith(begin))
    below = [*said[at + 1 :], ""]
    return [line.split() for line in below[: below.index("")]]


def test_tables_of_several_sources_show_the_source(said: list[str]) -> None:
    head, *rows = table_of(said, "tenant_1_public_t: 4 rows")
    assert head == ["_source", "id", "n", "note"]
    assert sorted(row[0] for row in rows) == sorted(TENANTS * 2)


def test_a_table_that_cannot_be_built_is_named_and_the_others_are_shown(said: list[str]) -> None:
    left_out = line_of(said, "shop: left out: table public.bad of shop: column '_row_key'")
    assert "is called like one of ours" in left_out
    assert not any(line.startswith("bad: ") for line in said)
    head, *rows = table_of(said, "shop_public_t: 2 rows")
    assert head == ["id", "n", "note"]
    assert [row[:2] for row in sorted(rows)] == [["1", "1"], ["3", "3"]]


def test_a_table_of_signals_is_left_out(said: list[str]) -> None:
    assert line_of(said, "shop: left out: table public.debezium_signal holds signals")
    assert not any(line.startswith("debezium_signal: ") for line in said)


def test_quarantined_messages_are_named_once_for_each_topic_and_reason(said: list[str]) -> None:
    line = line_of(said, "shop: 3 messages are quarantined in topic shop.public.t")
    assert "(the first is partition 0, offset 2)" in line
    assert "(bad_json); compare it with the message in Kafka, and dump it again" in line
    assert "; detail: value: " in line


def test_the_first_cause_is_named_in_the_words_of_preview(said: list[str]) -> None:
    line = line_of(said, "shop: transaction 4 is held")
    assert "dump the transaction topic to its end too, by default shop.transaction" in line


def test_a_dump_without_any_end_is_told_so_once(said: list[str]) -> None:
    assert "topic.transaction at the connector" in line_of(said, "no_end: no END has landed")


def test_internal_topics_are_named_once_and_counted_once(said: list[str]) -> None:
    assert line_of(said, "(Kafka): skipped 1 messages of _schemas")
    (row,) = (line.split() for line in said if line.startswith("(Kafka)  "))
    assert row[1:5] == ["-", "-", "none", "1"]


def test_nothing_that_preview_lacks_is_advised(said: list[str]) -> None:
    advice = "\n".join(said)
    assert "next run" not in advice
    assert "--json" not in advice
    assert "dbt_project.yml" not in advice
    assert "sources_without_truncate" not in advice
