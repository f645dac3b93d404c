"""A project that `init` wrote does what a clone does, with `dbt-debezium` and with dbt alone."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from give import give, stop_spark
from lake import capture

from dbt_debezium.home import jars_dir

COMPLETE = "--vars '{landing_reaches_the_end: true}'"
MART = "select count(*) as row_count from {{ ref('cur_a') }}\n"


def asked(query: str) -> list[dict[str, object]]:
    lines = give(f"dbt-debezium query {shlex.quote(query)} --json").stdout.splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.slow
def test_a_project_of_ones_own_publishes_the_rows_of_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_JARS", str(jars_dir().absolute()))
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    monkeypatch.chdir(tmp_path)
    stop_spark()
    give("dbt-debezium init my_lake")
    monkeypatch.chdir(tmp_path / "my_lake")
    give(f"dbt-debezium land {shlex.quote(str(capture('truncate')))}")
    give("dbt-debezium scaffold")
    Path("models/marts/how_many.sql").write_text(MART)
    give(f"dbt-debezium run {COMPLETE}")
    expected = (capture("truncate").parent / "expected" / "a.jsonl").read_text().splitlines()
    held = [json.loads(line) for line in expected]
    assert held
    assert asked("select cast(id as string) as id, v from public.a") == held
    assert asked("select * from public.how_many") == [{"row_count": len(held)}]
    stop_spark()
    # A variable of one's own passes beside settings.
    given = ["--vars", "{landing_reaches_the_end: true, colour: blue}"]
    dbt = [str(Path(sys.executable).with_name("dbt")), "build", *given]
    ended = subprocess.run(dbt, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
    assert asked("select * from public.how_many") == [{"row_count": len(held)}]
    # The capture is older than an hour.
    dbt[1:] = ["source", "freshness"]
    ended = subprocess.run(dbt, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
    assert "WARN freshness of pointer.cut" in ended.stdout
    stop_spark()
