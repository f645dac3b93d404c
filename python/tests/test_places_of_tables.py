"""Which folders of tables may lose files."""

import pytest

from dbt_debezium.maintenance.places import Places
from dbt_debezium.maintenance.table_places import common_folder, folder_of, is_below, warehouse_of

WAREHOUSE = "s3://bucket/lake/"


def places(**folders: str) -> Places:
    return Places(WAREHOUSE, {name: {folder_of(one)} for name, one in folders.items()})


@pytest.mark.parametrize(
    "location",
    [
        "s3://bucket/lake",
        "s3://bucket/lakes/t",
        "s3://bucket/lake/../victim",
        "s3://bucket/other/t",
        "s3://other/lake/t",
        "gs://bucket/lake/t",
        "/lake/t",
        "s3://bucket",
        "s3:bucket/lake/t",
    ],
)
def test_a_folder_that_is_not_below_the_warehouse_keeps_its_files(location: str) -> None:
    assert "outside of the warehouse" in str(places(t=location).fault_of("t"))


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n", "S3A"])
def test_other_schemes_of_one_store_are_that_store(scheme: str) -> None:
    assert places(t=f"{scheme}://bucket/lake/build/t").fault_of("t") is None
    both = places(t=f"{scheme}://bucket/lake/t/inner", other="s3://bucket/lake/t/")
    assert "in or around those of other" in str(both.fault_of("t"))
    assert "in or around those of t" in str(both.fault_of("other"))


def test_names_that_begin_alike_are_apart() -> None:
    assert places(t="s3a://bucket/lake/t", u="s3a://bucket/lake/t2").fault_of("t") is None


def test_a_file_belongs_to_a_table_only_below_its_folders() -> None:
    one = places(t="s3://bucket/lake/t")
    assert one.has("t", "s3a://bucket/lake/t/data")
    assert one.has("t", "s3a://bucket/lake/t")
    assert not one.has("t", "s3a://bucket/lake/t2")
    assert not one.has("t", "s3a://bucket/lake/t/../victim")


def test_a_server_that_decides_where_tables_are_shows_it_by_two_that_are_always_there() -> None:
    assert warehouse_of({"type": "rest", "warehouse": "s3://bucket/lake"}) is None
    assert common_folder(["s3://bucket/lake/landing/", "s3://bucket/lake/build/"]) == WAREHOUSE
    assert common_folder(["s3://bucket/lake/", "s3://bucket/lake/"]) == WAREHOUSE
    assert is_below("s3://bucket/lake/0b1c/", WAREHOUSE)
