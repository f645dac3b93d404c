"""A setting that nothing reads is a slip, and slips are refused."""

import re
import shutil
from pathlib import Path

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.project_settings import project_settings
from dbt_debezium.setting_names import OF_MODELS, check_setting_names

DEFAULT = re.compile(r"var\('(\w+)', ")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("macros", "models"):
        shutil.copytree(project_dir() / name, tmp_path / name)
    shutil.copy(project_dir() / "dbt_project.yml", tmp_path)
    return tmp_path


def edit(project: Path, old: str, new: str) -> None:
    settings = project / "dbt_project.yml"
    text = settings.read_text()
    assert text.count(old) == 1
    settings.write_text(text.replace(old, new))


def test_the_settings_that_we_ship_are_all_read(project: Path) -> None:
    check_setting_names(project)


@pytest.mark.parametrize(
    "slip", ["not_ingested_table", "not_ingestd_tables", "not-ingested-tables"]
)
def test_a_misspelt_setting_is_refused_by_name(project: Path, slip: str) -> None:
    edit(project, "  not_ingested_tables: []", f"  {slip}: [public.audit_log]")
    with pytest.raises(DebeziumError) as refusal:
        check_setting_names(project)
    assert str(refusal.value) == (
        f"dbt_project.yml: '{slip}' is not a setting; 'not_ingested_tables' is"
    )


def test_a_misspelt_setting_beside_the_right_one_is_refused_with_all_others(project: Path) -> None:
    edit(project, "  refused_proofs: []", "  refused_proofs: []\n  refused_proof: [watermark]")
    edit(project, "  refused_holds: []", "  refused_hold: []")
    with pytest.raises(DebeziumError) as refusal:
        check_setting_names(project)
    assert str(refusal.value).splitlines() == [
        "dbt_project.yml: 'refused_hold' is not a setting; 'refused_holds' is",
        "dbt_project.yml: 'refused_proof' is not a setting; 'refused_proofs' is, "
        "and stands there too",
    ]


def test_settings_of_own_models_and_of_packages_are_let_by(project: Path) -> None:
    edit(
        project,
        "  refused_proofs: []",
        "  refused_proofs: []\n  some_package: {a: 1}\n  since: 2026",
    )
    check_setting_names(project)
    (project / "models" / "own.sql").write_text("select {{ var('refused_proof') }}")
    edit(project, "  since: 2026", "  refused_proof: none")
    check_setting_names(project)


def test_a_key_that_appears_twice_is_refused_because_one_would_be_ignored(project: Path) -> None:
    edit(
        project,
        "  hashed: {}",
        "  hashed:\n    public.users: [id]\n    public.*: [id]\n    public.users: [email]",
    )
    line = (project / "dbt_project.yml").read_text().splitlines().index("    public.*: [id]") + 2
    with pytest.raises(DebeziumError) as refusal:
        check_setting_names(project)
    assert str(refusal.value) == (
        f"dbt_project.yml, line {line}: public.users appears twice; write it once, "
        "with all that belongs to it"
    )


def test_a_slip_in_vars_of_a_command_is_refused_and_other_names_are_the_user_s(
    project: Path,
) -> None:
    check_setting_names(project, ["since", "landing_reaches_the_end"])
    with pytest.raises(DebeziumError) as refusal:
        check_setting_names(project, ["since", "landing_reaches_the_ent"])
    assert str(refusal.value) == (
        "--vars: 'landing_reaches_the_ent' is not a setting; 'landing_reaches_the_end' is"
    )


def test_settings_below_the_name_of_the_package_count_first(project: Path) -> None:
    edit(
        project,
        "  refused_proofs: []",
        "  refused_proofs: []\n  dbt_debezium: {refused_proofs: [x]}",
    )
    check_setting_names(project)
    assert project_settings(project)["refused_proofs"] == ["x"]
    assert "dbt_debezium" not in project_settings(project)


def test_a_setting_that_models_of_the_project_read_is_refused_below_the_package(
    project: Path,
) -> None:
    edit(project, "  refused_proofs: []", "  refused_proofs: []\n  dbt_debezium: {hashed: {}}")
    with pytest.raises(DebeziumError) as refusal:
        check_setting_names(project)
    assert str(refusal.value) == (
        "dbt_project.yml: 'hashed' is below 'dbt_debezium' in vars, where models of the project "
        "do not look; write it into vars itself"
    )


def test_macros_that_models_of_a_project_call_repeat_the_defaults_of_their_settings() -> None:
    macros = (project_dir() / "macros").rglob("*.sql")
    defaults = {name for one in macros for name in DEFAULT.findall(one.read_text())}
    assert defaults == {*OF_MODELS}
