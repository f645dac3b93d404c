"""A site's spark-defaults.conf is respected, and a cluster gets what it lacks."""

import re
import sys
from pathlib import Path

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark.catalogs import inbox_folder
from dbt_debezium.spark.jars import check_jars, needed_jars
from dbt_debezium.spark.site import (
    JAVA_OPTIONS,
    completed,
    executors_python,
    uses_jars_folder,
    with_parts,
)
from dbt_debezium.spark.targets import catalog_of_target

CLUSTER = {"spark.master": "spark://host:7077"}
REPOSITORY = Path(__file__).parents[2]
OWN = f"python{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the site writes."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("DBT_DEBEZIUM_JARS", str(tmp_path / "jars"))
    (tmp_path / "jars").mkdir()
    for jar in needed_jars():
        (tmp_path / "jars" / jar.file_name).touch()
    return tmp_path / "spark-defaults.conf"


def test_a_setting_without_a_value_is_left_to_the_site(site: Path) -> None:
    site.write_text("# ours\nspark.master yarn\nspark.jars=/site/a.jar\n")
    settings = completed({"spark.master": "", "spark.jars": None, "spark.ui.enabled": "true"})
    assert settings == {"spark.ui.enabled": "true"}
    assert not uses_jars_folder(settings)
    assert "spark.jars" not in with_parts(settings)


def test_only_an_embedded_spark_is_bound_to_loopback(site: Path) -> None:
    assert completed({"spark.master": "local[2]"})["spark.driver.bindAddress"] == "127.0.0.1"
    assert completed(CLUSTER) == CLUSTER
    site.write_text("spark.driver.host: 10.0.0.1\n")
    assert "spark.driver.host" not in completed({"spark.master": "local[2]"})


def test_a_rest_catalog_is_waited_for_as_long_as_the_site_says(site: Path) -> None:
    lake = "spark.sql.catalog.lake"
    target = CLUSTER | {"spark.sql.defaultCatalog": "lake", f"{lake}.type": "rest"}
    name = f"{lake}.rest.client.socket-timeout-ms"
    assert with_parts(target)[name] == "60000"
    assert name not in with_parts(target | {f"{lake}.type": "jdbc"})
    site.write_text(f"{name} 5000\n")
    assert name not in with_parts(target)


def test_a_cluster_gets_jars_and_the_archive_beside_what_the_site_sends(site: Path) -> None:
    site.write_text("spark.archives /site/a.zip#a\nspark.executorEnv.PYTHONPATH /site\n")
    ready = with_parts(completed(CLUSTER))
    first, own = ready["spark.archives"].split(",")
    assert first == "/site/a.zip#a"
    assert own.startswith(f"{site.parent}/lake/executors/dbt-debezium-py")
    assert own.endswith(".zip#dbt_debezium_env")
    assert Path(own.partition("#")[0]).is_file()
    assert ready["spark.executorEnv.PYTHONPATH"] == "./dbt_debezium_env:/site"
    assert "iceberg-spark-runtime" in ready["spark.jars"]
    assert "sqlite" not in ready["spark.jars"]
    packed = CLUSTER | {"spark.archives": "s3a://lake/ours.zip#dbt_debezium_env"}
    assert with_parts(completed(packed))["spark.archives"] == packed["spark.archives"]


def test_each_catalog_that_a_site_names_has_an_inbox(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or what has landed in one would never land in the next, and nothing would say so."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.delenv("DBT_DEBEZIUM_CATALOG_URI", raising=False)
    folders = set()
    for host in "ab":
        site.write_text(f"spark.sql.catalog.lake.uri http://{host}:8181\n")
        folders.add(inbox_folder(catalog_of_target("prod")))
    assert len(folders) == 2


def test_what_is_set_after_the_start_and_is_secret_is_hidden_in_pages_and_logs(site: Path) -> None:
    hidden = re.compile(with_parts(CLUSTER)["spark.redaction.regex"])
    azure = "adls.auth.shared-key.account.key"
    for name in ("token", "credential", "s3.secret-access-key", "jdbc.password", azure):
        assert hidden.search(f"spark.sql.catalog.lake.{name}")
    site.write_text("spark.redaction.regex ours\n")
    assert "spark.redaction.regex" not in with_parts(CLUSTER)


def test_java_optimizes_no_code_for_one_run_unless_the_site_says_how_it_starts(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert JAVA_OPTIONS in (REPOSITORY / "profiles.yml").read_text()
    driver, executor = (f"spark.{one}.extraJavaOptions" for one in ("driver", "executor"))
    site.write_text(f"{executor} -Dsite=true\n")
    ready = with_parts(CLUSTER)
    assert "-XX:TieredStopAtLevel=1" in ready[driver]
    assert executor not in ready
    site.write_text("")
    assert "-XX:TieredStopAtLevel=1" in with_parts(CLUSTER)[executor]
    assert executor not in with_parts({"spark.master": "local[2]"})
    monkeypatch.setenv("DBT_DEBEZIUM_JAVA_OPTIONS", "-Dours=true")
    assert {with_parts(CLUSTER)[one] for one in (driver, executor)} == {"-Dours=true"}


def test_executors_run_the_python_that_the_site_names_or_the_driver_s_version(site: Path) -> None:
    assert executors_python({"spark.master": "local[2]"}) == sys.executable
    assert executors_python(CLUSTER) == OWN
    site.write_text("spark.pyspark.python /opt/python\n")
    assert executors_python(CLUSTER) == "/opt/python"


def test_a_store_brings_its_pinned_client(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_jars()
    monkeypatch.setenv("DBT_DEBEZIUM_STORE", "s3")
    with pytest.raises(DebeziumError, match=r"jars: iceberg-aws-bundle-.* is not in "):
        check_jars()
    # Beside the folder that the target local puts before Spark's own jars.
    monkeypatch.setenv("DBT_DEBEZIUM_STORE", "gcs")
    with pytest.raises(DebeziumError, match=r"jars: gcs/iceberg-gcp-bundle-.* is not in "):
        check_jars()
    monkeypatch.setenv("DBT_DEBEZIUM_STORE", "floppy")
    with pytest.raises(DebeziumError, match="jars: DBT_DEBEZIUM_STORE is floppy, for which there"):
        check_jars()
