"""What the plugin refuses before Spark starts."""

import shutil
from pathlib import Path

import pytest

from dbt_debezium.build import run_dbt
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir


def test_plain_tables_are_refused_through_spark_connect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (project_dir() / "dbt_project.yml").read_text()
    kept = settings.replace("public_as_table: []", "public_as_table: [orders]")
    (tmp_path / "dbt_project.yml").write_text(kept)
    shutil.copy(project_dir() / "profiles.yml", tmp_path)
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("DBT_DEBEZIUM_REMOTE", "sc://127.0.0.1:9")
    with pytest.raises(DebeziumError, match="public_as_table: Spark Connect has no way to"):
        run_dbt(["run", "--target", "connect"], tmp_path)
