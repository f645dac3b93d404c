"""A query that joins public tables sees one cut, whatever another process publishes meanwhile.

`make slow` has a shorter one on the lake of test_past.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from figures import record
from lake import REPOSITORY, capture
from oracle import History, read_messages
from pyspark.sql import SparkSession

from dbt_debezium.build import environment, run_dbt
from dbt_debezium.landing.land import land
from dbt_debezium.spark.session import spark_session

TORN_ORDERS = """
select
    (select max(published_cut.commit_number) from public.published_cut) as commit_number,
    count(*) as order_count,
    count_if(cast(orders.total as decimal(38,2)) is distinct from coalesce(items.total, 0))
        as torn_count
from public.orders
left join (
    select order_id, cast(sum(qty * cast(unit_price as decimal(18,2))) as decimal(38,2)) as total
    from public.order_items
    group by order_id
) as items
    on orders.id = items.order_id
"""


def read_under_flips(spark: SparkSession, lake: Path, queries: int, flips: int) -> None:
    commits = len(History(read_messages(capture("shop_basic"))).commits)
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("flip.py"), str(commits)],
        cwd=REPOSITORY,
        env={**os.environ, "DBT_DEBEZIUM_LAKE": str(lake)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as flipper:
        assert flipper.stdin is not None
        assert flipper.stdout is not None
        assert flipper.stdout.readline() == "ready\n"
        seen = []
        for number in range(queries):
            # Each flip goes on while the next queries read.
            if number * flips // queries < (number + 1) * flips // queries:
                flipper.stdin.write("flip\n")
                flipper.stdin.flush()
            (row,) = spark.sql(TORN_ORDERS).collect()
            assert row["torn_count"] == 0
            seen.append((row["commit_number"], row["order_count"]))
        flipper.stdin.close()
        assert flipper.wait() == 0
    print(f"{queries} queries under {flips} flips: {len(set(seen))} different cuts, 0 torn")
    # A reader with a cached catalog would stay on the cut that it saw first.
    assert len(set(seen)) > min(10, flips // 4)
    last = 1 + flips * 97 % commits
    assert spark.sql(TORN_ORDERS).collect()[0]["commit_number"] == last
    if flips > 100:
        record(
            "A query that joins two public tables sees one cut while another process publishes",
            f"{queries} queries under {flips} publications, {len(set(seen))} cuts seen: 0 torn",
        )


def build_shop(lake: Path) -> SparkSession:
    spark = spark_session("local")
    land(spark, capture("shop_basic"))
    assert run_dbt(["run", "--target", "local"], REPOSITORY)
    return spark


@pytest.mark.proof
@pytest.mark.fault(73)
def test_no_query_of_two_thousand_sees_two_cuts(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    with environment(DBT_DEBEZIUM_LAKE=str(lake)):
        spark = build_shop(lake)
        try:
            read_under_flips(spark, lake, queries=2000, flips=500)
        finally:
            spark.stop()
