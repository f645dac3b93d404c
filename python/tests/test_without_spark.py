"""`pip install dbt-debezium` brings readers; what needs Spark names what to install."""

import os
import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytest.importorskip("sqlalchemy", reason="`make setup-live` installs what makes small lakes")

from small_lake import add_view, made_lake

from dbt_debezium.cli import COMMANDS
from dbt_debezium.cli.problems import OF_SPARK
from dbt_debezium.home import project_dir

WITHOUT_SPARK = f"""
import importlib.util, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in {sorted(OF_SPARK)}:
            raise ModuleNotFoundError(f"No module named {{top!r}}", name=top)

found = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name in {sorted(OF_SPARK)} else found(name)
sys.meta_path.insert(0, Absent())
from dbt_debezium.cli import main
main()
"""
"""Runs a command as if the packages of `dbt-debezium[spark]` were not installed."""
MODULES = {"dbt_core": "dbt", "dbt_spark": "dbt", "kafka_python": "kafka"}
NEEDS_SPARK = [
    ["land", "dump"],
    ["run"],
    ["scaffold"],
    ["preview", "dump"],
    ["maintain"],
    ["lease", "--break"],
    ["quarantine", "--retry"],
]


def run(*arguments: str, lake: Path | None = None) -> subprocess.CompletedProcess[str]:
    # Spark's own Python for executors would find what is absent here.
    named = {"DBT_DEBEZIUM_LAKE": str(lake)} if lake else {}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_SPARK, *arguments],
        cwd=project_dir(),
        env=os.environ | named,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_spark_needs_is_an_extra_and_what_readers_need_is_not() -> None:
    plain, of_spark = set(), set()
    for one in map(Requirement, requires("dbt-debezium") or []):
        name = one.name.replace("-", "_")
        if one.marker is None:
            plain.add(name)
        elif one.marker.evaluate({"extra": "spark"}):
            of_spark.add(MODULES.get(name, name))
    assert of_spark | {"py4j", "dbt_common"} == OF_SPARK
    assert {"duckdb", "pyiceberg", "sqlglot"} <= plain
    assert plain.isdisjoint(of_spark)


def test_help_needs_nothing_of_spark() -> None:
    """In one process, as each would start Python anew."""
    code = WITHOUT_SPARK.replace("main()\n", "") + (
        "from click.testing import CliRunner\n"
        "for name in [None, *main.list_commands(None)]:\n"
        "    ended = CliRunner().invoke(main, [*([name] if name else []), '--help'])\n"
        "    assert ended.exit_code == 0, (name, ended.output)\n"
        "    print(name)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(ended.stdout.split()) == len(COMMANDS) + 1


@pytest.mark.parametrize("command", NEEDS_SPARK, ids=" ".join)
def test_a_command_that_needs_spark_names_what_to_install(
    command: list[str], tmp_path: Path
) -> None:
    made_lake(tmp_path)
    (tmp_path / "dump").touch()
    dump = str(tmp_path / "dump")
    ended = run(*(dump if one == "dump" else one for one in command), lake=tmp_path)
    assert ended.returncode == 2
    expected = "it needs Spark, which is not installed; pip install 'dbt-debezium[spark]'"
    assert ended.stderr.split("\n")[-2] == f"{command[0]}: {expected}", ended.stderr


def test_a_target_that_only_dbt_can_read_is_named(tmp_path: Path) -> None:
    made_lake(tmp_path)
    ended = run("status", "--target", "nope", lake=tmp_path)
    assert ended.returncode == 2
    assert re.match(
        r"profile: the target 'nope' of \S+/profiles.yml is not there, or only dbt can read it; "
        r"correct its name, or pip install 'dbt-debezium\[spark\]'\n$",
        ended.stderr,
    )


def test_a_query_a_lease_and_views_need_nothing_of_spark(tmp_path: Path) -> None:
    made_lake(tmp_path).create_namespace("public")
    add_view(tmp_path, "whole", "select cut_id from build.cut", "public")
    for arguments, expected in (
        (["query", "select cut_id + 1 as one from whole", "--csv"], "one\n2\n"),
        (["lease"], "no run holds the lease\n"),
    ):
        ended = run(*arguments, lake=tmp_path)
        assert (ended.returncode, ended.stdout) == (0, expected), ended.stderr
