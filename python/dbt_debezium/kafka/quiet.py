"""How long a partition must be silent until a snapshot does not wait for it any more."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from dbt_debezium.errors import DebeziumError

SETTING: Final = "quiet_partition_seconds"


def quiet_after(settings: Mapping[str, Any]) -> timedelta:
    """The setting, from the vars of a project; 0 for never.

    Raises:
        DebeziumError: it is no number from 0 on.

    >>> quiet_after({"quiet_partition_seconds": 300})
    datetime.timedelta(seconds=300)
    """
    seconds = settings.get(SETTING, 0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        raise DebeziumError(
            f"dbt_project.yml: {SETTING}: {seconds!r} is not a number from 0 on; "
            "docs/settings.md says what it means"
        )
    return timedelta(seconds=seconds)
