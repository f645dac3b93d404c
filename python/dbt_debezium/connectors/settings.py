"""What a project says of its connectors, in vars of dbt_project.yml."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct, field

from dbt_debezium.errors import DebeziumError
from dbt_debezium.patterns import matches

CDL_SOURCE: Final = "cdl"
"""The source of CDL 1.0, which names none, unless a setting does; 2.0 is printed with this name."""


class Settings(Struct, frozen=True):
    """Settings that say how messages are read."""

    cdl_sources: dict[str, str] = {}
    """Sources of CDL 1.0 by patterns of topics; the first that fits counts."""
    cdl_heartbeat_tables: list[str] = field(default_factory=lambda: ["cdc_cdl.cdc_heartbeat"])
    """Patterns of `schema.table` in any case. A set HEARTBEAT_IDENTIFIER says nothing: rows carry
    one too."""
    generic_sources: dict[str, Annotated[list[str], Meta(min_length=1)]] = {}
    """Sources of connectors that we do not know, by patterns: the fields of `source` that tell a
    change's place, the transaction's commit first. The first pattern that fits counts."""
    transaction_topics: dict[str, str] = {}
    """Topic prefixes of connectors by patterns of their transaction topics; the first that fits
    counts. Only where the messages do not show which connector a topic belongs to."""

    hashed: dict[str, Annotated[list[str], Meta(min_length=1)]] = {}
    """Columns whose values are hashed, in any case, by patterns of `schema.table`; every pattern
    that fits counts."""
    unavailable_value_placeholder: str = "__debezium_unavailable_value"

    def hashed_columns(self, schema: str | None, table: str) -> frozenset[str]:
        """The columns of a table whose values are hashed, in lower case.

        >>> settings = Settings(hashed={"public.*": ["Email"], "public.users": ["id"]})
        >>> sorted(settings.hashed_columns("public", "users")), settings.hashed_columns(None, "a")
        (['email', 'id'], frozenset())
        """
        name = f"{schema}.{table}" if schema else table
        found = [names for pattern, names in self.hashed.items() if matches(pattern, name)]
        return frozenset(column.lower() for names in found for column in names)

    def cdl_source(self, topic: str) -> str:
        """The source of CDL 1.0 on a topic.

        >>> Settings({"bank_*": "bank"}).cdl_source("bank_1"), Settings().cdl_source("bank_1")
        ('bank', 'cdl')
        """
        for pattern, source in self.cdl_sources.items():
            if matches(pattern, topic):
                return source
        return CDL_SOURCE

    def is_cdl_heartbeat(self, schema: str, table: str) -> bool:
        """Whether rows of the table are heartbeats of CDL.

        >>> Settings().is_cdl_heartbeat("CDC_CDL", "CDC_HEARTBEAT")
        True
        """
        name = f"{schema}.{table}".lower()
        return any(matches(pattern.lower(), name) for pattern in self.cdl_heartbeat_tables)

    def transaction_source(self, topic: str) -> str | None:
        """The source of a transaction topic; None where the setting names none.

        >>> Settings(transaction_topics={"eu-west.*": "mm"}).transaction_source("eu-west.tx")
        'mm'
        """
        for pattern, source in self.transaction_topics.items():
            if matches(pattern, topic):
                return source
        return None

    def generic_order(self, source: str | None) -> Sequence[str] | None:
        """The fields that order a source's changes; None where the setting names none.

        >>> Settings(generic_sources={"ifx*": ["commit_lsn"]}).generic_order("ifx_1")
        ['commit_lsn']
        """
        for pattern, order in self.generic_sources.items():
            if source and matches(pattern, source):
                return order
        return None


DEFAULTS: Final = Settings()


def settings_of(variables: Mapping[str, object]) -> Settings:
    """The settings of a project.

    Raises:
        DebeziumError: one of them is of the wrong type.

    >>> settings_of({"cdl_sources": ["bank"], "public_schema": "public"})
    Traceback (most recent call last):
    dbt_debezium.errors.DebeziumError: dbt_project.yml: cdl_sources: expected object, got array
    """
    try:
        return msgspec.convert(variables, Settings)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).replace("`", "").partition(" - at $.")
        name = re.split(r"\W", path)[0]
        raise DebeziumError(
            f"dbt_project.yml: {name}: {problem[:1].lower()}{problem[1:]}"
        ) from None
