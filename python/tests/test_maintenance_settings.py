"""Settings of maintenance that cannot work are refused before anything is removed."""

from types import SimpleNamespace

import pytest
import yaml

from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.maintenance import retention
from dbt_debezium.maintenance.maintain import keeping_rows
from dbt_debezium.maintenance.retention import kept_since, other_readers
from dbt_debezium.settings import FOREVER, MOST_DAYS, settings_of

SHIPPED = yaml.safe_load((project_dir() / "dbt_project.yml").read_text())["vars"]
KEPT = ("keep_message_days", "keep_version_days")


def test_by_default_everything_is_kept() -> None:
    settings = settings_of(SHIPPED)
    assert settings.keep_message_days == settings.keep_version_days == FOREVER


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("days", [0, -1, 1.5, True, "never", None, MOST_DAYS + 1])
def test_days_that_are_none_are_refused(name: str, days: object) -> None:
    with pytest.raises(DebeziumError, match=f"{name} must be a whole number of days"):
        settings_of(SHIPPED | {name: days})


@pytest.mark.parametrize("name", KEPT)
def test_a_round_that_keeps_rows_knows_no_days(name: str) -> None:
    settings = settings_of(SHIPPED | {name: 1, "longest_query_hours": 3})
    assert keeping_rows(settings) == settings_of(SHIPPED | {"longest_query_hours": 3})


@pytest.mark.parametrize("name", KEPT)
def test_the_most_days_reach_back_to_a_date(name: str) -> None:
    settings = settings_of(SHIPPED | {name: MOST_DAYS})
    assert MOST_DAYS in (settings.keep_message_days, settings.keep_version_days)
    assert kept_since(0, 0, MOST_DAYS) == "timestamp '1870-01-25 00:00:00Z'"


class TwoSchemas:
    """A session on a lake that is built in two schemas, where a captured table is called cut."""

    tables = {  # noqa: RUF012 - never changed
        "build": ["cut"],
        "public": [],
        "public_tables": ["cut"],
        "staging": ["cut"],
    }
    catalog = SimpleNamespace(tableExists=lambda name: name != "landing.cut")
    """Spark says of views too that they exist."""

    def sql(self, query: str) -> SimpleNamespace:
        schema = query.removeprefix("show tables in ")
        rows = (
            [SimpleNamespace(namespace=name) for name in self.tables]
            if query == "show schemas"
            else [SimpleNamespace(tableName=name) for name in self.tables[schema]]
        )
        return SimpleNamespace(collect=lambda: rows)

    def table(self, _: object, name: str) -> object:
        """As `lake_table`, which cannot open a view."""
        schema, table = name.split(".")
        assert table in self.tables[schema], f"{name} is a view"
        return name


def test_a_captured_table_called_cut_is_no_other_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    lake = TwoSchemas()
    monkeypatch.setattr(retention, "lake_table", lake.table)
    others = other_readers(lake, "build", "public_tables")  # type: ignore[arg-type] # only its look
    assert others == ["staging"]
