"""Names and comments that are code in some language, through the whole program.

One process lands, scaffolds, builds and asks, with secrets in its environment, which Java has too.
"""

import csv
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from answered import GIVE, answers
from attacks import COLUMNS, COMMENTS, SECRETS, TABLES, UNWRITABLE, Stream, commands, everything
from awkward_texts import TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st
from lake import open_lake
from pyspark.sql import SparkSession
from shown_text import shown_text

from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import jars_dir
from dbt_debezium.spark.session import SQL_SETTINGS, with_plain_sql
from dbt_debezium.writers import sql

LOOK = """
import json
from pathlib import Path
from dbt_debezium.scaffold.project_models import ProjectModels
from dbt_debezium.spark.session import spark_session

spark = spark_session()
found = {}
for path, model in ProjectModels.read(Path.cwd()).histories.items():
    table = spark.table(f"public.{model.public_name}").drop("_change")
    described = spark.sql(f"describe extended build.{path.stem}").collect()
    facts = {row.col_name: row.data_type for row in described}
    found[model.captured["table"]] = {
        "rows": [list(row) for row in table.collect()],
        "columns": table.columns,
        "location": facts["Location"],
        "comment": facts["Comment"],
    }
decisions = [list(row) for row in spark.sql("select source, transaction_id, reason from"
             " build.operator_decision").collect()]
print("found: " + json.dumps([found, decisions]))
"""
DECISION = {
    "source": "o'ther\\",
    "transaction_id": "1'2\\'; drop table build.cut --",
    "decision": "release",
    "decided_by": "me",
    "decided_on": "2026-11-29",
    "reason": 'it\'s \\n "well" ${env:SHOP_PASSWORD}',
}
SECONDS = 1800


@dataclass(frozen=True, slots=True)
class Attacked:
    """What came of the attack."""

    folder: Path
    """Has the lake, the project, the dump and a folder of somebody else."""
    ended: Mapping[str, tuple[int, str]]
    """Exit code and output of each command, by its first words."""
    tables: Mapping[str, dict[str, Any]]
    """By name in the source."""
    decisions: list[list[str]]
    outside: Mapping[str, str]
    """The files beside lake and project as they were before."""

    @property
    def output(self) -> str:
        return "".join(output for _, output in self.ended.values())


def files_beside(folder: Path) -> dict[str, str]:
    """Hashes of the files in a folder, but for those of lake and project."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] not in ("lake", "project")
    }


def python(code: str, *arguments: str, folder: Path, lake: Path) -> str:
    secrets = {name: f"{name.lower()}-5f3759df-0123456789abcdef" for name in SECRETS}
    places = {"DBT_DEBEZIUM_LAKE": str(lake), "DBT_DEBEZIUM_JARS": str(jars_dir().absolute())}
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, env=os.environ | secrets | places,
        check=False, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    folder = tmp_path_factory.mktemp("attack")
    (folder / "victim").mkdir()
    (folder / "victim" / "thesis.txt").write_text("ten years of work")
    everything(folder).write(folder / "dump.jsonl")
    lake, project = folder / "lake", folder / "project"
    python(GIVE, json.dumps([["init", str(project)]]), folder=folder, lake=lake)
    profile = project / "profiles.yml"
    option = "spark.sql.variable.substitute: 'true'"
    opening = "{dbt_debezium.settings: "
    profile.write_text(profile.read_text().replace(opening, f"{{{option}, {opening[1:]}"))
    assert option in profile.read_text()
    with (project / "seeds" / "operator_decision.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(DECISION))
        writer.writeheader()
        writer.writerow(DECISION)
    before = files_beside(folder)
    given = [
        ["land", "../dump.jsonl"],
        ["scaffold"],
        ["run", "--vars", "{landing_reaches_the_end: true}"],
        ["status", "--engine", "spark"],
        ["status", "--json"],
        ["query", "select * from public.cols", "--json"],
        ["query", "select * from public.good"],
        ["quarantine", "--values"],
        ["quarantine", "--json"],
        ["report", "page.html"],
        ["doctor"],
        ["scaffold", "--check"],
    ]
    ended = answers(given, python(GIVE, json.dumps(given), folder=project, lake=lake))
    for name, (code, output) in ended.items():
        assert code in (0, 1, 2), (name, output)
    code, output = ended["run --vars {landing_reaches_the_end: true}"]
    assert code == 0, output[-3000:]
    said = python(LOOK, folder=project, lake=lake)
    (found,) = [one for one in said.splitlines() if one.startswith("found: ")]
    tables, decisions = json.loads(found.removeprefix("found: "))
    return Attacked(folder, ended, tables, decisions, before)


@pytest.mark.slow
def test_nothing_outside_the_lake_is_made_changed_or_deleted(attacked: Attacked) -> None:
    assert files_beside(attacked.folder) == attacked.outside
    warehouse = str(attacked.folder / "lake" / "warehouse")
    for name, table in attacked.tables.items():
        assert table["location"].removeprefix("file:").startswith(f"{warehouse}/"), name


@pytest.mark.slow
def test_every_table_that_can_be_written_has_its_rows_and_its_comment(attacked: Attacked) -> None:
    kept = {*TABLES, *commands(attacked.folder), "good", "cols", "comments", "lone", "in_a_schema"}
    assert attacked.tables.keys() == kept
    for name, table in attacked.tables.items():
        assert len(table["rows"]) == (8 if name == "good" else 1), name
        place = f"public.{name}" if name != "in_a_schema" else "o'x\\' --.in_a_schema"
        assert f"version of a row of {place}, with the half-open" in shown_text(table["comment"])


@pytest.mark.slow
def test_every_other_table_is_refused_by_a_sentence(attacked: Attacked) -> None:
    code, output = attacked.ended["scaffold"]
    assert code == 2
    refusals = [one for one in output.splitlines() if " has U+" in one]
    assert len(refusals) == 2 * len(UNWRITABLE) + 1
    assert "schema 'a\\x1bb' has U+001B" in output


@pytest.mark.slow
def test_no_variable_is_substituted_in_a_name(attacked: Attacked) -> None:
    columns = attacked.tables["cols"]["columns"]
    assert columns == ["id", *COLUMNS]
    assert attacked.tables["cols"]["rows"] == [[1, *["v"] * len(COLUMNS)]]
    output = attacked.ended["query select * from public.cols --json"][1]
    (line,) = [one for one in output.splitlines() if one.startswith("{")]
    assert json.loads(line).keys() >= {*COLUMNS}
    commented = attacked.tables["comments"]["columns"]
    assert commented == ["id", *(f"c{number}" for number in range(len(COMMENTS)))]


@pytest.mark.slow
def test_decisions_are_read_as_they_are_written(attacked: Attacked) -> None:
    assert attacked.decisions == [
        [DECISION["source"], DECISION["transaction_id"], DECISION["reason"]]
    ]


@pytest.mark.slow
def test_no_secret_is_in_a_file_or_in_an_output(attacked: Attacked) -> None:
    assert b"5f3759df" not in attacked.output.encode()
    for path in attacked.folder.rglob("*"):
        if path.is_file():
            assert b"5f3759df" not in path.read_bytes(), path


@pytest.mark.slow
def test_no_command_prints_what_a_terminal_obeys(attacked: Attacked) -> None:
    assert "\\x1b[32mTOPIC" in attacked.output
    for name, (_, output) in attacked.ended.items():
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", output), (name, output)


@pytest.mark.slow
def test_a_preview_shows_the_same_without_harm(tmp_path: Path) -> None:
    stream = Stream()
    stream.commit("good", {"id": 1, "v": "\x1b[31mred"})
    stream.commit("staff", {"id": 1, "${env:SHOP_PASSWORD}": "v"})
    for table in (*commands(tmp_path), "${env:SHOP_PASSWORD}", "a\x80b"):
        stream.commit(table, {"id": 1, "v": "x"})
    stream.send("other.\x1b]0;pwned\x1b\\", "{}", "garbage")
    (tmp_path / "victim").mkdir()
    stream.write(tmp_path / "dump.jsonl")
    before = files_beside(tmp_path)
    given = [["preview", str(tmp_path / "dump.jsonl"), "--complete"]]
    ended = answers(given, python(GIVE, json.dumps(given), folder=tmp_path, lake=tmp_path / "lake"))
    ((_, output),) = ended.values()
    assert files_beside(tmp_path) == before
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", output), output
    assert "5f3759df" not in output
    assert "${env:SHOP_PASSWORD}" in output
    assert "table 'a\\x80b' has U+0080" in output


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on a lake of its own, which ends with this file."""
    with open_lake(tmp_path_factory.mktemp("names"), []) as lake:
        yield lake.spark


@settings(max_examples=8, deadline=None, derandomize=True)
@given(texts=st.lists(TEXTS, min_size=60, max_size=60))
def test_spark_reads_a_literal_and_a_name_as_they_were(
    spark: SparkSession, texts: list[str]
) -> None:
    for name, value in SQL_SETTINGS.items():
        assert spark.conf.get(name) == value
    names = [text or "none" for text in texts]
    columns = ", ".join(
        f"{sql.literal(text)} as {sql.identifier(name)}"
        for text, name in zip(texts, names, strict=True)
    )
    answer = spark.sql(f"select {columns}")
    assert answer.columns == names
    assert list(answer.collect()[0]) == texts


def test_a_session_that_keeps_a_setting_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a server of Spark Connect may; `doctor` reports the same sentence."""
    monkeypatch.setitem(SQL_SETTINGS, "spark.sql.warehouse.dir", "/nowhere")
    with pytest.raises(DebeziumError, match=r"spark: spark\.sql\.warehouse\.dir must be /nowhere"):
        with_plain_sql(spark)
