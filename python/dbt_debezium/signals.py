"""Signals that ask a connector to read tables again, or to stop: as SQL or as a Kafka record."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from dbt_debezium.errors import DebeziumError
from dbt_debezium.writers import sql

NAMES: Final = {
    "postgresql": ("schema", "table"),
    "mysql": ("database", "table"),
    "mariadb": ("database", "table"),
    "sqlserver": ("database", "schema", "table"),
    "db2": ("schema", "table"),
    "oracle": ("database", "schema", "table"),
}
"""The parts of a table's name in the signals of each connector."""
PART: Final = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`|\[(?:[^\]]|\]\])+\]|[^."`\[\]\s]+')
PATTERN_SIGNS: Final = frozenset("\\*+?()[]|^$")
"""A name with one of these is taken for the regular expression that Debezium takes it for."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal to one connector."""

    signal_id: str
    tables: Sequence[str]
    """As the connector names them: each part with a dot in double quotes. None: all of them."""
    is_stop: bool = False
    snapshot_type: Literal["incremental", "blocking"] = "incremental"
    conditions: Mapping[str, str] | None = None
    """For a table the rows to read, as SQL after `where`."""
    surrogate_key: str | None = None
    """A unique column by which chunks are cut instead of the primary key."""

    @property
    def signal_type(self) -> str:
        return "stop-snapshot" if self.is_stop else "execute-snapshot"

    def argument(self) -> str:
        """What the signal table's column `data` holds.

        >>> Signal("1", ["public.orders"]).argument()
        '{"data-collections":["public.orders"],"type":"incremental"}'
        """
        argument: dict[str, object] = {}
        if self.tables:
            argument["data-collections"] = list(self.tables)
        argument["type"] = self.snapshot_type
        if self.conditions:
            argument["additional-conditions"] = [
                {"data-collection": table, "filter": condition}
                for table, condition in self.conditions.items()
            ]
        if self.surrogate_key:
            argument["surrogate-key"] = self.surrogate_key
        return msgspec.json.encode(argument).decode()

    def check(self, connector: str) -> None:
        """Refuse what the connector would pass over in silence.

        Raises:
            DebeziumError: a table is not named as the connector names it, or the parts of the
                signal do not fit each other.
        """
        if not self.tables and not self.is_stop:
            raise DebeziumError("signal: no table is named; name those to read again")
        if self.is_stop and (self.conditions or self.surrogate_key):
            raise DebeziumError("--stop: takes neither --condition nor --surrogate-key; leave out")
        if self.surrogate_key and self.snapshot_type == "blocking":
            raise DebeziumError(
                "--surrogate-key: a blocking snapshot has no chunks; leave it out, or read with "
                "--type incremental"
            )
        if connector not in NAMES:
            raise DebeziumError(
                f"--connector: '{connector}' is not known; known: {', '.join(NAMES)}"
            )
        if self.snapshot_type == "blocking" and connector != "postgresql":
            raise DebeziumError(
                f"--type: a blocking snapshot of {connector} cannot be told from an initial one, "
                "which would empty the tables that it reads in part; use --type incremental"
            )
        wanted = NAMES[connector]
        for table in self.tables:
            if not PATTERN_SIGNS & set(table) and len(name_parts(table)) != len(wanted):
                raise DebeziumError(
                    f"signal: '{table}' is not a table of {connector}; write {'.'.join(wanted)}"
                )
        for table in self.conditions or {}:
            if table not in self.tables:
                raise DebeziumError(
                    f"--condition: '{table}' is not among the tables; write it as it is there"
                )

    def sql(self, connector: str, signal_table: str) -> str:
        """The statement for the source database.

        >>> print(Signal("1", ["public.orders"]).sql("postgresql", "public.signals"))
        insert into "public"."signals" (id, type, data) values
        ('1', 'execute-snapshot', '{"data-collections":["public.orders"],"type":"incremental"}');
        """
        table = ".".join(sql.source_identifier(connector, one) for one in name_parts(signal_table))
        values = ", ".join(
            sql.source_literal(connector, text)
            for text in (self.signal_id, self.signal_type, self.argument())
        )
        return f"insert into {table} (id, type, data) values\n({values});"

    def kafka_record(self, prefix: str) -> str:
        """The record for the connector's signal topic, as one line of JSON.

        >>> print(Signal("1", [], is_stop=True).kafka_record("shop"))
        {"topic":"shop-signal","key":"shop","value":"{\\"id\\":\\"1\\",\\"type\\":\\"stop-snapshot\\",\\"data\\":{\\"type\\":\\"incremental\\"}}"}
        """
        value = {
            "id": self.signal_id,
            "type": self.signal_type,
            "data": msgspec.Raw(self.argument().encode()),
        }
        record = {
            "topic": f"{prefix}-signal",
            "key": prefix,
            "value": msgspec.json.encode(value).decode(),
        }
        return msgspec.json.encode(record).decode()


def parse_conditions(conditions: Sequence[str]) -> dict[str, str]:
    """Read `table:condition` of each.

    Raises:
        DebeziumError: one is not of that form, or a table has two.

    >>> parse_conditions(["public.orders:total > 10"])
    {'public.orders': 'total > 10'}
    """
    parsed: dict[str, str] = {}
    for text in conditions:
        table, colon, condition = text.partition(":")
        if not (colon and table.strip() and condition.strip()):
            raise DebeziumError(
                f"--condition: '{text}' is not <table>:<condition>; "
                "write --condition 'public.orders:total > 10'"
            )
        if table.strip() in parsed:
            raise DebeziumError(
                f"--condition: '{table.strip()}' has two conditions; join them with and"
            )
        parsed[table.strip()] = condition.strip()
    return parsed


def name_parts(name: str) -> list[str]:
    """The parts of a table's name, without their quotes.

    Raises:
        DebeziumError: it is not a name.

    >>> name_parts('public.orders'), name_parts('"public"."My.Table"'), name_parts("[a]]b].t")
    (['public', 'orders'], ['public', 'My.Table'], ['a]b', 't'])
    """
    parts: list[str] = []
    place = 0
    while found := PART.match(name, place):
        part = found[0]
        if part[0] in '"`[':
            closing = part[-1]
            part = part[1:-1].replace(closing * 2, closing)
        parts.append(part)
        place = found.end()
        if place == len(name):
            return parts
        if name[place] != ".":
            break
        place += 1
    raise DebeziumError(
        f"signal: '{name}' is not a table's name; join its parts with dots, and quote a part that "
        "holds a dot"
    )
