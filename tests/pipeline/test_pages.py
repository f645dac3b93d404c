"""A reader gives the commands and the queries of the pages as they are written, and they work."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from give import give, stop_spark
from lake import REPOSITORY, capture
from pages import NOT_RUN, PAGES, blocks, commands, queries

from dbt_debezium import demo
from dbt_debezium.cli import main
from dbt_debezium.home import jars_dir

pytestmark = pytest.mark.slow

OF_A_DUMP = "README.md"
"""Its commands follow each other: a dump is looked at, landed, scaffolded, built and queried."""
OF_THE_DEMO = ("docs/querying.md", "docs/runbook.md", "docs/tables.md", "docs/types.md")
"""Their queries and commands are about the lake of the demo."""
OTHERS = sorted(PAGES.keys() - {OF_A_DUMP, *OF_THE_DEMO, "CHANGELOG.md"})


def ours(page: str) -> list[str]:
    return [command for command in commands(page) if command not in NOT_RUN]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project as a clone has it, and a dump beside it; the current folder meanwhile."""
    folder = tmp_path_factory.mktemp("pages") / "clone"
    for name in ("models", "macros", "seeds"):
        shutil.copytree(REPOSITORY / name, folder / name)
    for name in ("generic", "shop"):
        shutil.copytree(REPOSITORY / "tests" / name, folder / "tests" / name)
    for path in (REPOSITORY / "tests").glob("*.*ql"):
        shutil.copy(path, folder / "tests")
    for path in [REPOSITORY / "dbt_project.yml", REPOSITORY / "profiles.yml"]:
        shutil.copy(path, folder)
    (folder / demo.CAPTURE).parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / demo.CAPTURE, folder / demo.CAPTURE)
    (folder / "dump").mkdir()
    shutil.copy(capture("truncate"), folder / "dump" / "events.jsonl.gz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_DEBEZIUM_JARS", str(jars_dir().absolute()))
        patch.chdir(folder)
        yield folder
        stop_spark()


def enter(patch: pytest.MonkeyPatch, lake: Path) -> None:
    stop_spark()
    patch.setenv("DBT_DEBEZIUM_LAKE", str(lake))


@pytest.fixture(scope="module")
def told(project: Path) -> str:
    """What `make demo` prints, in a process of its own: Java finds the lake from its folder."""
    assert "$(BIN)/dbt-debezium demo" in (REPOSITORY / "Makefile").read_text()
    command = [Path(sys.executable).with_name("dbt-debezium"), "demo"]
    return subprocess.run(command, cwd=project, check=True, capture_output=True, text=True).stdout


def test_the_demo_prints_what_the_readme_says(told: str) -> None:
    (quoted,) = [block for block in blocks("README.md", "") if "published    commit" in block]
    lines = told.splitlines()
    assert [line for line in quoted.splitlines() if line not in lines] == [], told


def test_the_queries_and_commands_of_the_pages_work_on_the_lake_of_the_demo(
    told: str, project: Path
) -> None:
    given = []
    for page in OF_THE_DEMO:
        found = [
            shlex.join(["dbt-debezium", "query", query, *engine])
            for query in queries(page)
            for engine in ((), ("--engine", "spark"))
        ]
        assert found + ours(page), page
        given += found + ours(page)
    command = [sys.executable, REPOSITORY / "tests" / "pipeline" / "give.py", *given]
    lake = {"DBT_DEBEZIUM_LAKE": str(demo.LAKE)}
    subprocess.run(command, cwd=project, env=os.environ | lake, check=True)


def test_the_commands_of_the_readme_show_land_and_build_a_dump(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(monkeypatch, project / "lake")
    shown = {}
    for command in ours("README.md"):
        if "preview" in command:
            stop_spark()
        shown[command] = give(command).stdout
    (status,) = (text for command, text in shown.items() if command.endswith("status"))
    assert "trunc" in status


@pytest.mark.parametrize("page", [page for page in OTHERS if ours(page)])
def test_the_commands_of_every_other_page_work_in_a_project(
    page: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(project / "lake"))
    for command in ours(page):
        for one in main.list_commands(None) if "COMMAND" in command else [None]:
            give(command.replace("COMMAND", one) if one else command)
