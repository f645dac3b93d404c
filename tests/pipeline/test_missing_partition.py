"""A partition of the shop has not landed: what is held says so, and landing it ends the hold."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lake import Lake, capture, open_lake, tables_of
from oracle import Message, read_messages

from dbt_debezium.status.holds import held_sentence, holds_of

pytestmark = pytest.mark.slow

PLACE = ("shop.public.order_items", 1)


def write(path: Path, messages: list[Message]) -> Path:
    with gzip.open(path, "wt") as lines:
        lines.writelines(f"{json.dumps(one)}\n" for one in messages)
    return path


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return read_messages(capture("shop_basic"))


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, messages: list[Message]) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("missing")
    with open_lake(folder, tables_of(messages, only=["order_items", "orders"])) as lake:
        landed = [one for one in messages if (one["topic"], one["partition"]) != PLACE]
        lake.land(write(folder / "landed.jsonl.gz", landed))
        assert lake.build(command="run"), lake.lines
        yield lake


def test_a_partition_that_has_not_landed_is_named_and_ends_the_hold(
    lake: Lake, messages: list[Message]
) -> None:
    entry = lake.cuts()["shop"]
    sentence = held_sentence(entry, "preview") or ""
    assert "changes of public.order_items: partition 1 of shop.public.order_items has not " in (
        sentence
    )
    assert "; dump what is missing of that topic" in sentence
    assert "not-ingested" not in sentence
    assert sentence.endswith(
        ". 235 more are held for the same reason and 242 only wait behind them"
    )
    found = holds_of(entry["held"])
    held_count = len({one["transaction_id"] for one in entry["held"]})
    assert [one.count for one in found.causes] == [236]
    assert 236 + found.waiting_count == held_count == 478
    # What follows from the hold alone is no flag.
    assert {one["flag"] for one in entry["flags"]} == {"no_baseline"}
    said = next(line for line in lake.lines if line.startswith("shop: commit "))
    assert "478 held (first missing_events, 242 only wait)" in said

    late = [one for one in messages if (one["topic"], one["partition"]) == PLACE]
    lake.land(write(lake.folder / "late.jsonl.gz", late))
    assert lake.build(command="run"), lake.lines
    after = lake.cuts()["shop"]
    assert after["held"] == []
    assert after["commit_number"] == entry["commit_number"] + held_count
