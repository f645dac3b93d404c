"""Files that people write: their encoding, and what a profile may do."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from dbt_debezium.errors import DebeziumError
from dbt_debezium.kafka.landing_file import KafkaBlock, client_options, read_landing_file
from dbt_debezium.scaffold.project_models import ProjectModels
from dbt_debezium.setting_names import check_setting_names
from dbt_debezium.spark.profiles import read_target, rendered_target
from dbt_debezium.spark.site import site_defaults

LATIN = "größe: straße\n".encode("latin-1")


def password(folder: Path) -> object:
    option = f"${{file:{folder / 'password'}}}"
    return client_options("shop", KafkaBlock("a:9092", options={"sasl.jaas.config": option}))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("landing.yml", read_landing_file),
        ("password", password),
        ("models/a.sql", ProjectModels.read),
        ("models/a.yml", ProjectModels.read),
        ("macros/a.sql", lambda folder: check_setting_names(folder, ())),
        ("profiles.yml", lambda _: read_target()),
        ("spark-defaults.conf", lambda _: site_defaults()),
    ],
)
def test_a_file_of_another_encoding_is_named(
    name: str, read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("DBT_PROFILES_DIR", "SPARK_CONF_DIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    (tmp_path / "dbt_project.yml").write_text("name: a\nprofile: a\n")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(LATIN)
    with pytest.raises(DebeziumError, match=f"{name}: is not UTF-8 at byte 2; save it so"):
        read(tmp_path)


def test_a_profile_can_do_no_more_than_dbt_lets_it(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("profile: a\n")
    schema = f"{{{{ cycler.__init__.__globals__.os.mkdir('{tmp_path}/made') }}}}"
    output = {"schema": schema, "server_side_parameters": {}}
    profile = {"a": {"target": "b", "outputs": {"b": output}}}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
    assert rendered_target(tmp_path, tmp_path / "profiles.yml", None) is None
    assert not (tmp_path / "made").exists()
