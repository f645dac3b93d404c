"""The check of docs/rounds.md on a live process: green, red while a snapshot waits, green again."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from arrivals import Arrival
from dropped_fields import CLOSE
from lake import REPOSITORY, Lake, tables_of
from oracle import Message
from streams import Postgresql, create, update
from test_rounds import is_green
from test_run_every import bring, repeated

from dbt_debezium.build import environment
from dbt_debezium.home import jars_dir
from dbt_debezium.preview import write_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow
MOST_ROUNDS = 2


def read_window(shop: Postgresql, table: str) -> None:
    """An incremental snapshot of one row, and the change that closes its window."""
    place = shop.place(table, shop.lsn + 8, snapshot="incremental") | {"txId": None, "lsn": None}
    shop.send_change(create(table, id=1, v="x")._replace(op="r"), place)
    shop.commit(CLOSE)


def parts_of(shop: Postgresql) -> list[list[Message]]:
    """What lands one after another: a quiet and a busy table, a snapshot, then a change of each."""
    shop.commit(create("quiet", id=1, v="x"), create("busy", id=1, v="x"))
    parts = [[*shop.landings[0]]]
    read_window(shop, "quiet")
    shop.commit(update("busy", id=1, v="while the snapshot waits"))
    parts.append(shop.landings[0][len(parts[0]) :])
    shop.commit(update("quiet", id=1, v="y"), update("busy", id=1, v="y"))
    parts.append(shop.landings[0][sum(map(len, parts)) :])
    return parts


def is_well(health: Path) -> bool:
    """What the check finds just after a round. One that published may have taken over a minute."""
    return is_green(health, datetime.fromisoformat(json.loads(health.read_text())["written_at"]))


def test_the_check_is_red_while_a_snapshot_of_a_quiet_table_waits(tmp_path: Path) -> None:
    parts = parts_of(Postgresql("shop"))
    tables = tables_of([one for part in parts for one in part], only=["quiet", "busy"])
    lake = Lake(tmp_path, cast("SparkSession", None), tables)
    write_project(REPOSITORY, lake.project, tables, {})
    health, dump = tmp_path / "lake" / "health.json", tmp_path / "dump"
    dump.mkdir()
    jars = str(jars_dir().absolute())
    with environment(DBT_DEBEZIUM_JARS=jars), repeated(lake, dump) as process:
        bring(dump, Arrival("shop", parts[0], []), 1)
        process.wait_for("published")
        process.wait_for("no_news")
        assert is_well(health)

        bring(dump, Arrival("shop", parts[1], []), 2)
        rounds = [process.wait_for("published", "no_news") for _ in range(MOST_ROUNDS)]
        assert "published" in {one["outcome"] for one in rounds}
        assert not is_well(health)
        said = json.loads(health.read_text())
        assert said["oldest_held"]["reason"] == "snapshot_unconfirmed"
        assert said["readers_behind_seconds"] > 0
        # Each later round without news finds it red, too.
        process.wait_for("no_news")
        assert not is_well(health)

        bring(dump, Arrival("shop", parts[2], []), 3)
        process.wait_for("published")
        process.wait_for("no_news")
        assert is_well(health)
        assert json.loads(health.read_text())["oldest_held"] is None
