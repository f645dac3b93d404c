"""Rebuilds source tables from Debezium change logs: no query sees half a transaction.

In Python, `open` reads a lake (docs/python.md). Nothing else is imported before it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt_debezium.api.cut import Cut, Table
    from dbt_debezium.api.lake import Diff, Lake, open
    from dbt_debezium.errors import DebeziumError

__all__ = ["Cut", "DebeziumError", "Diff", "Lake", "Table", "open"]

_HOMES = {
    "Cut": "api.cut",
    "Table": "api.cut",
    "Diff": "api.lake",
    "Lake": "api.lake",
    "open": "api.lake",
    "DebeziumError": "errors",
}


def __getattr__(name: str) -> object:
    """Give dbt its `plugins`, and others what they ask for, without importing either for all."""
    if name == "plugins":
        from dbt_debezium.plugin import DebeziumPlugin

        return [DebeziumPlugin]
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
