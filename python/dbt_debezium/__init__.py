"""Rebuilds source tables from Debezium change logs: no query sees half a transaction."""


def __getattr__(name: str) -> object:
    """Give dbt its `plugins` when it asks, without importing dbt for everybody else."""
    if name == "plugins":
        from dbt_debezium.plugin import DebeziumPlugin

        return [DebeziumPlugin]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
