"""`doctor` names what is wrong with a machine and a project, and how to mend it."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_debezium.cli import main
from dbt_debezium.doctor.finding import Finding
from dbt_debezium.doctor.machine import machine_findings
from dbt_debezium.home import jars_dir, project_dir
from dbt_debezium.spark.jars import JARS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The settings of a project without models."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("dbt_project.yml", "profiles.yml"):
        shutil.copy(project_dir() / name, folder)
    return folder


def found(project: Path, level: str) -> list[str]:
    findings: list[Finding] = [*machine_findings(project, "local")]
    return [one.sentence for one in findings if one.level == level]


def test_a_project_without_models_and_landing_file_works_and_is_told_what_comes_next(
    project: Path,
) -> None:
    assert found(project, "wrong") == []
    notes = found(project, "note")
    assert any("has models of no table; land messages and run" in note for note in notes)
    assert "landing.yml: there is none, so land and run need a source each time" in notes


def test_a_jar_of_another_content_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jars = project / "jars"
    jars.mkdir()
    for jar in JARS:
        (jars / jar.file_name).symlink_to((jars_dir() / jar.file_name).absolute())
    (jars / JARS[1].file_name).unlink()
    (jars / JARS[1].file_name).write_bytes(b"other")
    monkeypatch.setenv("DBT_DEBEZIUM_JARS", str(jars))
    (wrong,) = found(project, "wrong")
    assert wrong.startswith(f"jars: {jars / JARS[1].file_name} is not the pinned file; run `dbt-")


def test_each_file_that_cannot_be_read_is_one_finding(project: Path) -> None:
    (project / "landing.yml").write_text("shop: {topics: a}")
    settings = project / "dbt_project.yml"
    settings.write_text(settings.read_text().replace("cdl_sources: {}", "cdl_sources: [a]"))
    wrong = found(project, "wrong")
    assert [one.split(":")[0] for one in wrong] == ["dbt_project.yml", "landing.yml"]


def test_a_password_that_is_not_set_is_named_before_a_broker_is_asked(project: Path) -> None:
    (project / "landing.yml").write_text(
        "shop: {bootstrap_servers: 'a:9092', options: {sasl.jaas.config: '${env:NO_SUCH_ONE}'}}"
    )
    (wrong,) = found(project, "wrong")
    assert wrong == (
        "landing.yml: shop: options: sasl.jaas.config: the variable NO_SUCH_ONE is not set; "
        "set it, or name another"
    )


def test_without_a_lake_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    ended = CliRunner().invoke(main, ["doctor"])
    assert ended.exit_code == 0, ended.output
    assert "note  lake: nothing has landed in" in ended.output
    assert ended.output.endswith("0 problems, 2 notes\n")
    assert not (tmp_path / "lake").exists()
