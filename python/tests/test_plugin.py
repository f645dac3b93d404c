"""What the plugin refuses before Spark starts."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtRuntimeError

from dbt_debezium import public_tables
from dbt_debezium.build import run_dbt
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.maintenance import table_places
from dbt_debezium.plugin import prepare_sessions


def test_plain_tables_are_refused_through_spark_connect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (project_dir() / "dbt_project.yml").read_text()
    kept = settings.replace("public_as_table: []", "public_as_table: [orders]")
    (tmp_path / "dbt_project.yml").write_text(kept)
    shutil.copy(project_dir() / "profiles.yml", tmp_path)
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("DBT_DEBEZIUM_REMOTE", "sc://127.0.0.1:9")
    with pytest.raises(DebeziumError, match=r"^public_as_table: Spark Connect has no way to"):
        run_dbt(["run", "--target", "connect"], tmp_path)


def test_a_session_of_another_method_is_refused() -> None:
    """dbt itself asks for packages that we do not install, so nobody comes so far without them."""
    prepare_sessions(is_writing=False)
    connection = SimpleNamespace(credentials=SimpleNamespace(method="thrift"))
    with pytest.raises(DbtRuntimeError, match="profile: method is thrift"):
        SparkConnectionManager.open(connection)


@pytest.mark.parametrize("name", ["write_public_tables", "check_table_places"])
@pytest.mark.parametrize(
    "statement", ["comment on table t is '{}'", "/* a */ select '{}'", "-- {}"]
)
def test_text_of_the_data_is_no_call_of_this_package(name: str, statement: str) -> None:
    """Comments and names of sources are literals of statements that pass through the plugin."""
    sql = statement.format(f"call dbt_debezium.{name} {{}}")
    assert public_tables.step_of(sql) is None
    assert table_places.step_of(sql) is None
