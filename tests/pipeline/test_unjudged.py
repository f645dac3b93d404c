"""A source that cannot be judged waits by itself, says why, and goes on once that is mended."""

from pathlib import Path

import pytest
from arrivals import Arrival
from lake import open_lake, tables_of
from streams import Cdl, Postgresql, create

from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.status.lake_status import lake_status

pytestmark = pytest.mark.slow

IN_ORDER = ("--vars", "watermark_sources: [cdl_jobs]")


def test_other_sources_are_published_and_a_full_refresh_ends_it(tmp_path: Path) -> None:
    jobs, shop = Cdl("cdl_jobs"), Postgresql("shop")
    for number in (1, 2):
        jobs.row("2.0", "t", {"id": number})
        shop.commit(create("orders", id=number))
    first = [Arrival("jobs", jobs.landings[0][:], []), Arrival("shop", shop.landings[0][:], [])]
    for number in (3, 4):
        jobs.row("2.0", "t", {"id": number})
        shop.commit(create("orders", id=number))
    rest = [
        Arrival("jobs", jobs.landings[0][2:], []),
        Arrival("shop", shop.landings[0][len(first[1].messages) :], []),
    ]
    with open_lake(tmp_path, tables_of(jobs.landings[0] + shop.landings[0])) as lake:
        lake.land_arrivals("first", first)
        assert lake.build(), lake.lines
        assert lake.cuts()["cdl_jobs"]["commit_number"] == 1
        lake.land_arrivals("rest", rest)
        for _ in range(2):
            assert lake.build(*IN_ORDER), lake.lines
            (said,) = (one for one in lake.lines if "watermark_sources lists it" in one)
            assert said.startswith("cdl_jobs: ")
            jobs_cut, shop_cut = lake.cuts()["cdl_jobs"], lake.cuts()["shop"]
            assert (jobs_cut["commit_number"], shop_cut["commit_number"]) == (1, 4)
            assert [one["reason"] for one in jobs_cut["held"]] == ["not_judged"]
            status = lake_status(SparkReader(lake.spark), [], "build", "public", [])
            assert said in status.notices
        assert lake.build("--full-refresh", *IN_ORDER), lake.lines
        assert lake.cuts()["cdl_jobs"]["commit_number"] == 3
        assert [one["reason"] for one in lake.cuts()["cdl_jobs"]["held"]] == ["awaiting_watermark"]
