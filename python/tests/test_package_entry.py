"""packages.yml names the dbt package, because dbt 1.12 compares it with what is installed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_dbt_inside import both_versions

from dbt_debezium import package_entry
from dbt_debezium.errors import DebeziumError
from dbt_debezium.new_project import write_new_project
from dbt_debezium.package import refresh
from dbt_debezium.package_entry import FOLDER, LINE, check_entries
from dbt_debezium.package_files import NAME
from dbt_debezium.project_settings import own_settings

REPOSITORY = Path(__file__).parents[2]
REPOSITORIES = [
    "git: https://example.com/forge/dbt-debezium.git",
    "git: git@example.com:forge/dbt_debezium",
    "package: forge/dbt_debezium",
    "tarball: https://example.com/dbt-debezium.tar.gz",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_new_project(tmp_path / "my_lake")
    return tmp_path / "my_lake"


@pytest.fixture
def earlier(project: Path) -> Path:
    """A project as versions before this one began it."""
    (project / "packages.yml").unlink()
    shutil.rmtree(project / FOLDER)
    return project


def dbt(project: Path, *arguments: str) -> str:
    """What dbt says of a project, and its exit code before it."""
    code = "from dbt.cli.main import cli; cli()"
    ended = subprocess.run(
        [sys.executable, "-c", code, "--no-use-colors", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{ended.returncode} {ended.stdout}{ended.stderr}"


@both_versions
def test_a_new_project_is_read_before_dbt_deps_and_after_it(project: Path, dbt_of: str) -> None:
    for arguments in (["parse"], ["deps"], ["parse"]):
        said = dbt(project, *arguments)
        assert said.startswith("0 "), said
    copy = project / "dbt_packages" / NAME
    assert not copy.is_symlink()
    assert (copy / "macros" / "row_history.sql").is_file()
    nodes = json.loads((project / "target" / "manifest.json").read_text())["nodes"]
    assert f"model.{NAME}.int_cut" in nodes


@both_versions
def test_dbt_mends_a_project_that_an_earlier_version_began(earlier: Path, dbt_of: str) -> None:
    said = dbt(earlier, "parse")
    if package_entry.is_compared():
        assert said.startswith("2 "), said
        assert "project: packages.yml is new and names the dbt package" in said
        said = dbt(earlier, "parse")
    assert said.startswith("0 "), said


@pytest.mark.parametrize("is_compared", [False, True])
def test_a_command_mends_a_project_that_an_earlier_version_began(
    is_compared: bool, earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_entry, "is_compared", lambda: is_compared)
    assert refresh(earlier) == is_compared
    assert not refresh(earlier)
    assert (earlier / "packages.yml").is_file() == is_compared
    assert (earlier / FOLDER / "dbt_project.yml").is_file() == is_compared


@pytest.mark.parametrize("name", package_entry.NAMING)
def test_somebodys_packages_without_ours_are_named(
    name: str, earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (earlier / name).write_text("packages: [{local: ../other}]\n")
    monkeypatch.setattr(package_entry, "is_compared", lambda: False)
    assert not refresh(earlier)
    monkeypatch.setattr(package_entry, "is_compared", lambda: True)
    with pytest.raises(DebeziumError, match=f"does not name the dbt package.*add `{LINE}` to it"):
        refresh(earlier)


@pytest.mark.parametrize("text", ["packages: []\n", "packages:\n", "# none yet\n"])
def test_a_packages_yml_that_names_nothing_is_named(
    text: str, earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody writes into somebody's file, so the entry would be missing for ever."""
    (earlier / "packages.yml").write_text(text)
    monkeypatch.setattr(package_entry, "is_compared", lambda: False)
    assert not refresh(earlier)
    monkeypatch.setattr(package_entry, "is_compared", lambda: True)
    with pytest.raises(DebeziumError, match=f"does not name the dbt package.*add `{LINE}` to it"):
        refresh(earlier)


def test_the_folder_of_the_entry_comes_back(project: Path) -> None:
    shutil.rmtree(project / FOLDER)
    assert not refresh(project)
    assert (project / FOLDER / "dbt_project.yml").is_file()


@pytest.mark.parametrize("entry", REPOSITORIES)
def test_our_repository_as_a_package_is_refused(entry: str, project: Path) -> None:
    (project / "packages.yml").write_text(f"packages:\n  - {entry}\n    revision: main\n")
    for is_user in (False, True):
        with pytest.raises(DebeziumError, match=f"brings our example.*write `{LINE}` in place"):
            check_entries(project, is_user)


@pytest.mark.parametrize("entry", ["git: https://example.com/not-dbt-debezium.git", "local: ../a"])
def test_packages_of_others_are_none_of_ours(entry: str, project: Path) -> None:
    (project / "packages.yml").write_text(f"packages:\n  - {entry}\n")
    check_entries(project, is_user=False)


def test_an_entry_without_macro_paths_is_refused(project: Path) -> None:
    with pytest.raises(DebeziumError, match=r"macro-paths of dbt_project\.yml does not; add"):
        check_entries(project, is_user=False)


@both_versions
def test_dbt_refuses_our_repository_without_the_plugin(tmp_path: Path, dbt_of: str) -> None:
    """As one that `dbt deps` has cloned, for an entry that the plugin does not know as ours."""
    clone = tmp_path / "clone"
    clone.mkdir()
    shutil.copy(REPOSITORY / "dbt_project.yml", clone)
    for folder in ("macros", "models", "seeds"):
        shutil.copytree(REPOSITORY / folder, clone / folder)
    project = tmp_path / "somebodys"
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text("name: somebodys\nprofile: dbt_debezium\n")
    (project / "packages.yml").write_text("packages: [{local: ../clone}]\n")
    shutil.copy(REPOSITORY / "profiles.yml", project)
    assert dbt(project, "deps").startswith("0 ")
    said = dbt(project, "parse")
    assert said.startswith("2 "), said
    assert "project: packages.yml names the repository of dbt-debezium" in said


def test_variables_that_only_dbt_1_12_reads_are_refused(project: Path) -> None:
    (project / "vars.yml").write_text("vars: {public_schema: shop}\n")
    with pytest.raises(DebeziumError, match=r"vars\.yml has variables.*move them into its vars"):
        own_settings(project)
