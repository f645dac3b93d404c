"""A project of somebody's own: what `init` writes, and how dbt finds the package there."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from click.testing import CliRunner

from dbt_debezium.cli import main
from dbt_debezium.demo import CAPTURE
from dbt_debezium.errors import CannotWorkError, DebeziumError
from dbt_debezium.home import check_project
from dbt_debezium.kafka.landing_file import read_landing_file
from dbt_debezium.new_project import write_new_project
from dbt_debezium.package import read_settings, refresh, uses_package
from dbt_debezium.package_files import CARRIED, NAME, PACKAGE, PAGES, package_dir, package_files
from dbt_debezium.package_files import EXAMPLE as EXAMPLE_FILES
from dbt_debezium.preview import write_project
from dbt_debezium.project_settings import project_settings
from dbt_debezium.scaffold.project_models import plan_scaffold
from dbt_debezium.scaffold.tables import TableFacts
from dbt_debezium.setting_names import check_setting_names
from dbt_debezium.spark.catalogs import NAMED
from dbt_debezium.spark.profiles import rendered_target
from dbt_debezium.spark.site import completed, with_named

REPOSITORY = Path(__file__).parents[2]
SOURCES = ("dbt_project.yml", "profiles.yml", "pyproject.toml", "setup.py", "LICENSE")
FOLDERS = ("macros", "models", "seeds", "tests", "docs", "python/dbt_debezium")
EXAMPLE = {"shop", "data", "revenue_by_day.sql"}
"""Folders and a file that no project gets."""
COMMAND = "from dbt_debezium.cli import main; main()"
DBT = "from dbt.cli.main import cli; cli()"
LINK = re.compile(r"\]\(([^()\s]+)\)")
MART = "select count(*) as order_count from {{ ref('cur_orders') }}\n"


def run(code: str, arguments: Sequence[str], folder: Path, installed: Path | None = None) -> str:
    """What a command says, and its exit code before it.

    Args:
        installed: the folder that a wheel was unpacked in, whose package it runs.
    """
    paths = {"PYTHONPATH": str(installed)} if installed else {}
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=os.environ | paths,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{ended.returncode} {ended.stdout}{ended.stderr}"


def parsed(project: Path, installed: Path | None = None) -> dict[str, Any]:
    """dbt's manifest of a project; dbt may not warn of anything."""
    said = run(DBT, ["--warn-error", "parse", "--no-partial-parse"], project, installed)
    assert said.startswith("0 "), said
    manifest: dict[str, Any] = json.loads((project / "target" / "manifest.json").read_text())
    return manifest


def scaffold(project: Path, *names: str) -> list[str]:
    """Write the models of tables, as the command does when they have landed."""
    columns = {"id": "bigint", "total": "decimal(12,2)"}
    seen = {name: {"string"} for name in columns}
    tables = [
        TableFacts("shop", "public", name, seen, dict(columns), False, ["id"]) for name in names
    ]
    plan = plan_scaffold(project, tables, [])
    assert plan.refusals == []
    plan.write(project)
    return [change.path.as_posix() for change in plan.changes]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy that has been built before: setuptools leaves its folder `build`."""
    copy = tmp_path_factory.mktemp("repository")
    for folder in FOLDERS:
        left_out = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(REPOSITORY / folder, copy / folder, ignore=left_out)
    for file in [*SOURCES, *(page.name for page in REPOSITORY.glob("*.md"))]:
        shutil.copy(REPOSITORY / file, copy)
    (copy / CAPTURE).parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / CAPTURE, copy / CAPTURE)
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", "dist", "."]
    removed = copy / "macros" / "removed_since.sql"
    removed.touch()
    subprocess.run(command, cwd=copy, check=True)
    removed.unlink()
    subprocess.run(command, cwd=copy, check=True)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked as pip does it."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_new_project(tmp_path / "my_lake")
    return tmp_path / "my_lake"


def test_a_wheel_carries_the_package_the_pages_and_the_demo(wheel: Path) -> None:
    carried = f"{NAME}/{CARRIED}/"
    names = zipfile.ZipFile(wheel).namelist()
    files = {name.removeprefix(carried) for name in names if name.startswith(carried)}
    patterns = (*PACKAGE, *EXAMPLE_FILES, *PAGES)
    expected = {file.as_posix() for file in package_files(REPOSITORY, patterns)}
    assert {"CHANGELOG.md", CAPTURE.as_posix(), "docs/cut.svg"} <= expected
    assert expected < files
    assert sorted(files - expected) == [
        "profiles.yml",
        "seeds/_seeds.yml",
        "seeds/operator_decision.csv",
    ]
    there = [
        path.relative_to(REPOSITORY)
        for name in ("macros", "models")
        for path in (REPOSITORY / name).rglob("*.*")
        if path.is_file() and path.name != ".sqlfluff"
    ]
    assert {path.as_posix() for path in there} < files


def test_no_project_gets_the_example(installed: Path, tmp_path: Path) -> None:
    said = run(COMMAND, ["init", "my_lake"], tmp_path, installed)
    assert said.startswith("0 new"), said
    run(COMMAND, ["scaffold"], tmp_path / "my_lake", installed)
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*")]
    assert Path("my_lake", "dbt_packages", NAME, "dbt_project.yml") in files
    assert [path for path in files if EXAMPLE.intersection(path.parts)] == []


def test_every_link_of_every_page_of_a_wheel_leads_somewhere(installed: Path) -> None:
    folder = installed / NAME / CARRIED
    pages = [*folder.rglob("*.md")]
    assert {"README.md", "runbook.md"} <= {page.name for page in pages}
    for page in pages:
        for address in LINK.findall(page.read_text()):
            place = urlsplit(address)
            if place.scheme:
                check_address(address)
            elif place.path:
                assert (page.parent / place.path).is_file(), f"{page.name}: {address}"


def test_the_page_for_pypi_has_addresses_alone_and_its_picture(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (one for one in opened.namelist() if one.endswith(".dist-info/METADATA"))
        page = opened.read(name).decode()
    addresses = [address for address in LINK.findall(page) if not address.startswith("#")]
    assert len(addresses) > 30
    for address in addresses:
        check_address(address)
    assert re.search(r"!\[[^]]+\]\(https://[^)]*/raw/v[^)]*/docs/cut[.]svg\)", page)


def check_address(address: str) -> None:
    """Of our repository, that the file is there; of others only that it is an address."""
    assert address.startswith("https://"), address
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    ours = project["urls"]["Repository"]
    if address.startswith(f"{ours}/"):
        kind, tag, path = urlsplit(address).path.removeprefix(urlsplit(ours).path)[1:].split("/", 2)
        assert kind in {"blob", "raw"}, address
        assert tag == f"v{project['version']}", address
        assert (REPOSITORY / path).is_file(), address


def test_a_wheel_carries_the_page_of_report(wheel: Path) -> None:
    assert f"{NAME}/page/page.html" in zipfile.ZipFile(wheel).namelist()


def test_an_installed_wheel_begins_a_project_in_which_dbt_finds_every_model(
    installed: Path, tmp_path: Path
) -> None:
    said = run(COMMAND, ["init", "my_lake"], tmp_path, installed)
    assert said.startswith("0 new"), said
    project = tmp_path / "my_lake"
    assert scaffold(project, "orders") == [
        "models/shop/current/cur_orders.sql",
        "models/shop/current/cur_orders.yml",
        "models/shop/history/orders_history.sql",
        "models/shop/history/orders_history.yml",
    ]
    (project / "models" / "marts" / "order_count.sql").write_text(MART)
    manifest = parsed(project, installed)
    assert (project / "dbt_packages" / NAME / "dbt_project.yml").read_bytes() == (
        installed / NAME / CARRIED / "dbt_project.yml"
    ).read_bytes()
    nodes = manifest["nodes"].values()
    of_package = {
        node["name"]
        for node in nodes
        if node["resource_type"] == "model" and node["package_name"] == NAME
    }
    models = [file for file in package_files(REPOSITORY) if file.parts[0] == "models"]
    assert of_package == {file.stem for file in models if file.suffix == ".sql"}
    own = {
        node["name"]: node["config"]["materialized"]
        for node in nodes
        if node["package_name"] == "my_lake" and node["resource_type"] in {"model", "seed"}
    }
    assert own == {
        "orders_history": "row_history",
        "cur_orders": "current_rows",
        "order_count": "published_table",
        "operator_decision": "seed",
    }
    hooks = [node["name"] for node in nodes if node["resource_type"] == "operation"]
    assert f"{NAME}-on-run-end-0" in hooks
    shipped = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text())
    assert len(hooks) == len(shipped["on-run-start"]) + len(shipped["on-run-end"])
    tests = {node["name"] for node in nodes if node["resource_type"] == "test"}
    assert {file.stem for file in (REPOSITORY / "tests").glob("*.sql")} < tests


def test_a_sentence_of_a_wheel_names_the_page_where_it_is(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "dbt_project.yml").touch()
    said = run(COMMAND, ["init", "taken"], tmp_path, installed)
    assert said.startswith("2 "), said
    (page,) = re.findall(r"\((\S+/docs/own-project[.]md)\)", said)
    assert Path(page) == installed / NAME / CARRIED / "docs" / "own-project.md"
    assert Path(page).is_file()


def test_a_sentence_of_a_clone_names_the_page_by_its_place_in_the_clone(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "dbt_project.yml").touch()
    assert "(docs/own-project.md)" in run(COMMAND, ["init", "taken"], tmp_path)


@pytest.mark.slow
def test_a_project_without_models_and_marts_is_read_too(project: Path) -> None:
    said = run(DBT, ["ls", "--resource-type", "model"], project)
    assert said.startswith("0 "), said
    assert "dbt_debezium.transactions.proof.int_cut" in said


def test_macros_that_models_of_a_project_call_have_the_packages_defaults(project: Path) -> None:
    """Settings of a package are not seen from a model of another one."""
    settings = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text())["vars"]
    called = (
        ("public_relation", "public_schema", "'public'"),
        ("check_hashed_model", "hashed", "{}"),
    )
    for macro, name, default in called:
        text = (REPOSITORY / "macros" / "hooks" / f"{macro}.sql").read_text()
        assert f"var('{name}', {default})" in text
        assert yaml.safe_load(default) == settings[name]


def test_a_table_called_like_a_model_of_the_package_gets_another_name(project: Path) -> None:
    assert "models/shop/current/cur_public_int_cut.sql" in scaffold(project, "int_cut")


def test_settings_that_a_project_does_not_name_are_those_of_the_package(project: Path) -> None:
    file = project / "dbt_project.yml"
    file.write_text(file.read_text().replace("public_schema: public", "public_schema: shop"))
    shipped = yaml.safe_load((package_dir() / "dbt_project.yml").read_text())["vars"]
    assert project_settings(project) == shipped | {"public_schema": "shop"}


def test_a_preview_there_has_the_projects_settings_and_the_files_of_a_clones(
    project: Path, tmp_path: Path
) -> None:
    file = project / "dbt_project.yml"
    file.write_text(file.read_text().replace("vars:", "vars:\n  hashed: {public.users: [name]}"))
    for name, of in (("there", project), ("clone", REPOSITORY)):
        write_project(of, tmp_path / name, [], {})
    there, clone = (
        {
            path.relative_to(folder): path.read_bytes()
            for path in folder.rglob("*.*")
            if path.is_file()
        }
        for folder in (tmp_path / "there", tmp_path / "clone")
    )
    settings = yaml.safe_load(there.pop(Path("dbt_project.yml")))
    expected = yaml.safe_load(clone.pop(Path("dbt_project.yml")))
    for folder, found in ((project, there), (REPOSITORY, clone)):
        assert found.pop(Path("profiles.yml")) == (folder / "profiles.yml").read_bytes()
    assert there == clone
    assert settings["vars"] == expected["vars"] | {"hashed": {"public.users": ["name"]}}


def test_a_setting_that_models_of_the_project_would_not_see_is_refused(project: Path) -> None:
    file = project / "dbt_project.yml"
    file.write_text(file.read_text().replace("vars:", "vars:\n  dbt_debezium: {hashed: {}}"))
    with pytest.raises(
        DebeziumError, match=r"'hashed' is below 'dbt_debezium' in vars.*; write it into vars"
    ):
        check_setting_names(project)


def test_an_upgrade_renews_the_package_and_leaves_what_is_the_projects(project: Path) -> None:
    scaffold(project, "orders")
    refresh(project)
    copy = project / "dbt_packages" / NAME
    files = [path for path in project.rglob("*") if path.is_file() and copy not in path.parents]
    mine = {path: path.read_bytes() for path in files}
    (copy / "macros" / "op.sql").write_text("of an earlier version")
    (copy / "macros" / "removed_since.sql").write_text("of an earlier version")
    (copy / "models" / "_columns.md").unlink()
    refresh(project)
    assert {path.relative_to(copy) for path in copy.rglob("*") if path.is_file()} == {
        *package_files(REPOSITORY)
    }
    for file in package_files(REPOSITORY):
        assert (copy / file).read_bytes() == (REPOSITORY / file).read_bytes()
    assert {path: path.read_bytes() for path in mine} == mine


def test_a_copy_that_is_of_this_version_is_only_read(project: Path) -> None:
    refresh(project)
    copy = project / "dbt_packages" / NAME
    before = {path: path.stat().st_mtime_ns for path in (copy, *copy.rglob("*"))}
    refresh(project)
    assert {path: path.stat().st_mtime_ns for path in (copy, *copy.rglob("*"))} == before


def test_a_process_keeps_its_version_when_an_upgrade_comes_meanwhile(
    installed: Path, project: Path
) -> None:
    upgraded = installed / NAME / CARRIED / "macros" / "op.sql"
    before = upgraded.read_text()
    code = (
        "import sys; from pathlib import Path; from dbt_debezium.package import refresh\n"
        "refresh(Path('.')); Path(sys.argv[1]).write_text('newer'); refresh(Path('.'))"
    )
    try:
        assert run(code, [str(upgraded)], project, installed) == "0 "
        assert upgraded.read_text() == "newer"
    finally:
        upgraded.write_text(before)
    assert (project / "dbt_packages" / NAME / "macros" / "op.sql").read_text() == before


def test_nothing_is_written_through_a_link_in_place_of_the_copy(
    project: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    (project / "dbt_packages").mkdir()
    (project / "dbt_packages" / NAME).symlink_to(elsewhere)
    refresh(project)
    assert [path.name for path in elsewhere.iterdir()] == ["file"]
    assert (project / "dbt_packages" / NAME / "dbt_project.yml").is_file()


def test_nothing_is_written_through_a_link_in_the_copy(project: Path, tmp_path: Path) -> None:
    refresh(project)
    macros = project / "dbt_packages" / NAME / "macros"
    macros.rename(tmp_path / "elsewhere")
    macros.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "op.sql").write_text("mine")
    refresh(project)
    assert (tmp_path / "elsewhere" / "op.sql").read_text() == "mine"
    assert (macros / "op.sql").read_text() == (REPOSITORY / "macros" / "op.sql").read_text()


def test_a_file_in_place_of_the_copy_is_named(project: Path) -> None:
    (project / "dbt_packages").touch()
    with pytest.raises(DebeziumError, match=r"^project: .*dbt_packages is a file; remove it"):
        refresh(project)


@pytest.mark.parametrize("file", ["notes.txt", "macros/mine.sql", ".git/HEAD"])
def test_a_folder_that_is_no_copy_is_named_and_left_alone(project: Path, file: str) -> None:
    mine = project / "dbt_packages" / NAME / file
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    if file.startswith(".git"):
        # A clone of this repository, which is a package of that name too.
        shutil.copy(REPOSITORY / "dbt_project.yml", mine.parents[1])
    with pytest.raises(DebeziumError, match=r"is no copy of the dbt package, .* move it away"):
        refresh(project)
    assert mine.read_text() == "mine"


def test_a_folder_of_packages_that_is_jinja_is_refused(project: Path) -> None:
    with (project / "dbt_project.yml").open("a") as file:
        file.write("packages-install-path: \"{{ env_var('PACKAGES') }}\"\n")
    with pytest.raises(DebeziumError, match=r"packages-install-path .* do not render Jinja; write"):
        refresh(project)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (b"vars: [", "line 1: expected the node content, but found '<stream end>'"),
        (b"name: a\nvars: {a: 1\nmodels: {}\n", "line 3: expected ',' or '}', but got ':'"),
        (b"name: a\nvars: [\x00]\n", "line 2: unacceptable character #x0000: special characters"),
        (b"name: \xff\n", "'utf-8' codec can't decode byte 0xff in position 6"),
    ],
)
def test_settings_that_cannot_be_read_are_said_to_be_with_their_line(
    written: bytes, why: str, project: Path
) -> None:
    (project / "dbt_project.yml").write_bytes(written)
    with pytest.raises(DebeziumError) as refused:
        check_project(project)
    where = f"project: {project / 'dbt_project.yml'} cannot be read ({why}"
    assert str(refused.value).startswith(where), refused.value
    assert str(refused.value).endswith("); correct it")


@pytest.mark.slow
def test_packages_of_others_are_installed_beside_it(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "macros").mkdir(parents=True)
    (other / "macros" / "two.sql").write_text("{% macro two() %}2{% endmacro %}")
    (other / "dbt_project.yml").write_text("name: other\nversion: 1.0.0\n")
    (project / "packages.yml").write_text(
        "packages: [{local: ../other}, {local: dbt_debezium_package}]\n"
    )
    assert run(DBT, ["deps"], project).startswith("0 ")
    scaffold(project, "orders")
    (project / "models" / "marts" / "two.sql").write_text("select {{ other.two() }} as two")
    assert {"macro.other.two", f"macro.{NAME}.row_history"} <= parsed(project)["macros"].keys()


@pytest.mark.slow
def test_a_project_without_the_package_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "one.sql").write_text("select 1 as one")
    (tmp_path / "dbt_project.yml").write_text(
        "name: other\nversion: 1.0.0\nprofile: dbt_debezium\n"
    )
    shutil.copy(REPOSITORY / "profiles.yml", tmp_path)
    assert not uses_package(tmp_path)
    assert set(parsed(tmp_path)["nodes"]) == {"model.other.one"}
    assert not (tmp_path / "dbt_packages").exists()


@pytest.mark.slow
def test_a_project_that_is_there_takes_the_package_as_the_page_says(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "own-project.md").read_text()
    lines, packages = re.findall(r"^```yaml\n(.*?)^```\n", page, re.MULTILINE | re.DOTALL)
    began, there = tmp_path / "began" / "shop_lake", tmp_path / "shop_lake"
    write_new_project(began)
    (there / "models").mkdir(parents=True)
    incremental = "{{ config(materialized='incremental') }} select {{ is_incremental() }} as one"
    (there / "models" / "one.sql").write_text(incremental)
    shutil.copytree(began / "seeds", there / "seeds")
    shutil.copytree(began / "dbt_debezium_package", there / "dbt_debezium_package")
    (there / "packages.yml").write_text(packages)
    shutil.copy(began / "profiles.yml", there)
    seeds = (began / "dbt_project.yml").read_text().partition("\nseeds:")
    mine = "name: shop_lake\nversion: 1.0.0\nprofile: dbt_debezium\n"
    (there / "dbt_project.yml").write_text(f"{mine}{lines}{seeds[1]}{seeds[2]}")
    assert scaffold(there, "orders")
    nodes = parsed(there)["nodes"]
    assert {"model.shop_lake.one", "model.shop_lake.cur_orders", f"model.{NAME}.commit"} <= set(
        nodes
    )
    decision = nodes["seed.shop_lake.operator_decision"]
    assert decision["config"]["column_types"]["decided_on"] == "date"
    assert nodes[f"model.{NAME}.int_operator_decision"]["depends_on"]["nodes"] == [
        "seed.shop_lake.operator_decision"
    ]


def test_init_writes_over_no_file_and_then_writes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "profiles.yml").write_text("mine")
    ended = CliRunner().invoke(main, ["init", "mine"])
    assert ended.exit_code == 2
    said = " ".join(ended.stderr.split())
    assert said.startswith(
        "init: mine/profiles.yml is there already, and init writes over no file;"
    )
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["profiles.yml"]
    assert (tmp_path / "mine" / "profiles.yml").read_text() == "mine"


def test_a_readme_and_a_gitignore_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "from_a_forge"
    project.mkdir()
    monkeypatch.chdir(project)
    for name in ("README.md", ".gitignore"):
        Path(name).write_text("mine")
    ended = CliRunner().invoke(main, ["init", "."])
    assert ended.exit_code == 0, ended.output
    assert [line for line in ended.output.splitlines() if line.startswith("kept")] == [
        "kept  .gitignore",
        "kept  README.md",
    ]
    assert (project / "README.md").read_text() == (project / ".gitignore").read_text() == "mine"


@pytest.mark.parametrize("way", ["file", "link"])
def test_init_writes_nothing_where_something_is_in_its_way(way: str, tmp_path: Path) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    if way == "file":
        (project / "macros").touch()
    else:
        (project / "profiles.yml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DebeziumError, match=r"^init: .* is there already, and"):
        write_new_project(project)
    assert len([*project.iterdir()]) == 1
    assert not (tmp_path / "nowhere").exists()


def test_a_project_may_be_called_like_a_word_of_yaml(tmp_path: Path) -> None:
    write_new_project(tmp_path / "null")
    assert read_settings(tmp_path / "null")["name"] == "null"
    assert {*read_settings(tmp_path / "null")["models"]} >= {"null"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DebeziumError, match=r"^init: .*file.*; name a folder"):
        write_new_project(tmp_path / "file" / "mine")


@pytest.mark.parametrize("name", ["my-lake", "1st", "dbt_debezium", "dbt"])
def test_a_folder_that_dbt_has_no_name_for_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, ["init", name])
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"init: '{name}' cannot be the name of a dbt project; name")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("command", [["land", "dump"], ["scaffold"], ["run"], ["status"]])
def test_an_installed_command_without_a_project_says_how_to_begin_one(
    command: list[str], installed: Path, tmp_path: Path
) -> None:
    said = run(COMMAND, command, tmp_path, installed)
    assert said.startswith(f"2 project: neither {tmp_path} nor a folder above it has"), said
    assert "`dbt-debezium init my_lake`" in said
    assert [*tmp_path.iterdir()] == []
    assert not [*(installed / NAME / CARRIED).glob("lake")]


@pytest.mark.parametrize("target", ["local", "prod", "connect"])
def test_a_new_project_has_the_settings_of_spark_that_the_package_has(
    target: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("DBT_DEBEZIUM_")]:
        monkeypatch.delenv(name)
    found = []
    for folder in (project, REPOSITORY):
        output = rendered_target(folder, folder / "profiles.yml", target)
        assert output is not None
        monkeypatch.chdir(REPOSITORY)
        found.append((output["schema"], completed(output["server_side_parameters"])))
    assert found[0] == found[1]
    assert len((project / "profiles.yml").read_text().splitlines()) <= 10


def test_a_setting_of_the_project_counts_more_than_that_of_the_package() -> None:
    found = with_named({NAMED: "local", "spark.driver.memory": "9g"})
    assert found["spark.driver.memory"] == "9g"
    assert found["spark.sql.defaultCatalog"] == "lake"
    assert NAMED not in found


def test_settings_that_the_package_does_not_have_are_named() -> None:
    with pytest.raises(
        CannotWorkError, match=r"dbt_debezium[.]settings is 'lokal', .*; name local"
    ):
        with_named({NAMED: "lokal"})


def test_a_new_project_is_read_without_a_warning_and_its_example_once_it_is_enabled(
    project: Path,
) -> None:
    assert f"model.{NAME}.int_cut" in parsed(project)["nodes"]
    scaffold(project, "orders")
    mart = project / "models" / "marts" / "orders_by_status.sql"
    mart.write_text("".join(mart.read_text().splitlines(keepends=True)[1:]))
    node = parsed(project)["nodes"]["model.my_lake.orders_by_status"]
    assert node["config"]["materialized"] == "published_table"
    assert node["depends_on"]["nodes"] == ["model.my_lake.cur_orders"]


def test_a_new_project_names_no_rule_and_no_page_that_it_lacks(project: Path) -> None:
    for path in (path for path in project.rglob("*") if path.is_file()):
        text = path.read_text()
        assert not re.search(r"\bS[0-9]{1,2}\b|\bdocs/", text), path


def test_the_example_of_what_to_land_is_read_under_its_other_name(project: Path) -> None:
    (project / "landing.example.yml").rename(project / "landing.yml")
    assert [*read_landing_file(project)] == ["shop"]
