"""Values of settings that commands read themselves, beside the models."""

from dbt_debezium.errors import DebeziumError


def number_from_zero(name: str, value: object) -> float:
    """A setting that is a number.

    Args:
        name: of the setting.
        value: what dbt_project.yml says.

    Raises:
        DebeziumError: it is no number from 0 on.

    >>> number_from_zero("quiet_partition_seconds", 300)
    300
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise DebeziumError(
            f"dbt_project.yml: {name}: {value!r} is not a number from 0 on; "
            "docs/settings.md says what it means"
        )
    return value
