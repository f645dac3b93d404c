"""What dbt prints, logs and writes as its site, with our plugin in it. No Spark."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dbt_debezium.home import jars_dir
from dbt_debezium.preview import write_project

REPOSITORY = Path(__file__).parents[2]
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
MODEL = r"""{{ config(materialized='view') }}
{{ print('a \x1b[31mred\x1b]0;title\x07 name \x9b2J') }}
{% if var('fails', false) %}
{{ exceptions.raise_compiler_error('an \x1b]0;title\x07 error') }}
{% endif %}
select 1 as id
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("output") / "project"
    write_project(REPOSITORY, folder, [], {})
    (folder / "models" / "loud.sql").write_text(MODEL)
    return folder


def dbt(project: Path, *arguments: str) -> str:
    """What dbt prints."""
    command = [str(Path(sys.executable).with_name("dbt")), *arguments]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DBT_DEBEZIUM_LAKE", str(project.parent / "lake"))
        patched.setenv("DBT_DEBEZIUM_JARS", str(jars_dir().absolute()))
        ended = subprocess.run(command, cwd=project, check=False, capture_output=True, text=True)
    return ended.stdout + ended.stderr


def test_dbt_prints_nothing_that_a_terminal_obeys_and_its_site_names_its_scripts(
    project: Path,
) -> None:
    said = dbt(project, "docs", "generate", "--empty-catalog", "--no-compile")
    said += (project / "logs" / "dbt.log").read_text()
    assert said.count("a \\x1b[31mred\\x1b]0;title\\x07 name \\x9b2J") == 2
    assert not OBEYED.search(said)
    page = (project / "target" / "index.html").read_text()
    (nonce,) = re.findall(r"""content="script-src 'nonce-([\w-]{20,})'; object-src""", page)
    assert page.count(nonce) == 2
    assert f'<script nonce="{nonce}" defer="defer">' in page


def test_an_error_in_colours_keeps_dbts_own(project: Path) -> None:
    said = dbt(project, "--use-colors", "parse", "--vars", "{fails: true}")
    assert "\x1b[0m" in said
    said = re.sub(r"\x1b\[[0-9;]*m", "", said)
    assert "an \\x1b]0;title\\x07 error" in said
    assert not OBEYED.search(said)
