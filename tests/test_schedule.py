"""What docs/schedule.md shows, given to the programs that run it."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from give import give, stop_spark
from lake import capture
from pages import blocks

from dbt_debezium.cli import imported, main
from dbt_debezium.home import jars_dir

PAGE = "docs/schedule.md"
HOME = "/srv/my_lake"
"""Where the page has the project."""
ORCHESTRATORS = {
    "airflow": ("apache-airflow==3.3.2", ["airflow", "dags", "test", "my_lake"]),
    "dagster": ("dagster==1.13.29", ["dagster", "asset", "materialize", "--select", "my_lake"]),
}
"""What is installed from PyPI, and the command that runs what the page shows."""


def program(name: str) -> str:
    """The block in Python that imports an orchestrator."""
    (text,) = [one for one in blocks(PAGE, "python") if name in one]
    return text


@pytest.mark.parametrize("name", ORCHESTRATORS)
def test_a_program_of_the_page_is_one_of_python(name: str) -> None:
    ast.parse(program(name))


def test_the_container_of_kubernetes_gets_options_that_the_command_has() -> None:
    (text,) = blocks(PAGE, "yaml")
    manifest = yaml.safe_load(text)
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    name, *options = container["args"]
    command = imported(name)
    with command.make_context(name, options, **main.context_settings) as context:
        assert context.params["every"] is not None
        assert context.params["metrics_port"] is not None


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    (text,) = blocks("docs/rounds.md", "ini")
    assert text.count("/srv/dbt-debezium/.venv/bin/dbt-debezium") == 1
    unit = tmp_path / "dbt-debezium.service"
    unit.write_text(text.replace("/srv/dbt-debezium/.venv/bin/dbt-debezium", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has published, with an environment as the page has it."""
    folder = tmp_path_factory.mktemp("srv") / "my_lake"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DBT_DEBEZIUM_LAKE", raising=False)
        patch.setenv("DBT_DEBEZIUM_JARS", str(jars_dir().absolute()))
        patch.chdir(folder.parent)
        stop_spark()
        give("dbt-debezium init my_lake")
        patch.chdir(folder)
        (folder / "jars").symlink_to(jars_dir())
        give(f"dbt-debezium land {shlex.quote(str(capture('truncate')))}")
        give("dbt-debezium scaffold")
        give("dbt-debezium run")
        stop_spark()
    (folder / ".venv" / "bin").mkdir(parents=True)
    started = folder / ".venv" / "bin" / "dbt-debezium"
    python_path = os.pathsep.join(one for one in sys.path if one)
    command = Path(sys.executable).with_name("dbt-debezium")
    started.write_text(
        f"#!/bin/sh\nexport PYTHONPATH={shlex.quote(python_path)}\n"
        f'exec {shlex.quote(str(command))} "$@"\n'
    )
    started.chmod(0o755)
    return folder


@pytest.mark.slow
def test_the_line_for_cron_runs_with_what_cron_gives_it(project: Path) -> None:
    (line,) = [one for one in "".join(blocks(PAGE, "")).splitlines() if one.startswith("*/15")]
    command = re.sub(r"^(\S+ ){5}", "", line).replace(HOME, str(project))
    environment = {"HOME": str(project), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", command], env=environment, cwd="/", check=True)
    assert (project / "run.log").read_text().count("no news since the run that published") == 2


@pytest.mark.proof
@pytest.mark.parametrize("name", ORCHESTRATORS)
def test_an_orchestrator_runs_what_the_page_shows(name: str, project: Path, tmp_path: Path) -> None:
    package, command = ORCHESTRATORS[name]
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    bin_dir = tmp_path / "venv" / "bin"
    subprocess.run([bin_dir / "pip", "install", "--quiet", package], check=True)
    (tmp_path / "dags").mkdir()
    file = tmp_path / "dags" / "my_lake.py"
    homes = {f"{name.upper()}_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    environment = {**os.environ, **homes, "PATH": f"{bin_dir}:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    if name == "airflow":
        subprocess.run([bin_dir / "airflow", "db", "migrate"], env=environment, check=True)
    else:
        command = [*command, "-f", str(file)]

    def given(folder: Path) -> subprocess.CompletedProcess[str]:
        file.write_text(program(name).replace(HOME, str(folder)))
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    done = given(project)
    assert done.returncode == 0, done.stderr
    assert "no news since the run that published" in done.stdout + done.stderr
    refused = tmp_path / "refused"
    shutil.copytree(project / ".venv", refused / ".venv")
    (refused / "dbt_project.yml").write_text("name: [\n")
    done = given(refused)
    assert done.returncode != 0
    assert "dbt_project.yml cannot be read" in done.stdout + done.stderr
