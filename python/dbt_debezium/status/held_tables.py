"""Which tables a transaction is held for, if it is for no count of changes (S9, S12)."""

from collections.abc import Iterable
from typing import Any, Final

from dbt_debezium.readers import Reader

PLACEHOLDER: Final = "__debezium_unavailable_value"
"""Debezium's default: what it writes for a value that it was not sent."""
SIGNS: Final = {
    "incomplete_key_change": "is_torn",
    "missing_row": "has_failed",
    "other_key": "has_failed",
    "row_without_identity": "has_failed",
}
"""What shows that a table is one of those, by the reason to hold."""
HELD_TABLES: Final = f"""
select
    held.source,
    held.transaction_id,
    held.held_reason as reason,
    message.data_collection,
    count(distinct case
        when message.operation = 'd' and message.new_row_key is not null
            then concat(message.row_key, ' ', message.new_row_key)
    end) != count(distinct case
        when message.operation = 'c' and message.old_row_key is not null
            then concat(message.old_row_key, ' ', message.row_key)
    end) as is_torn,
    bool_or(failed.data_collection is not null) as has_failed,
    bool_or(coalesce(instr(message.before, '{PLACEHOLDER}') > 0, false)) as lacks_old_values
from {{schema}}.cut as published
inner join {{schema}}.held_transaction__stored as held
    on published.cut_id = held.cut_id
inner join {{schema}}.held_message as message
    on
        held.cut_id = message.cut_id
        and held.source = message.source
        and case
            when message.unit_kind = 'snapshot' then held.transaction_id like 'snapshot %'
            else held.transaction_id = message.transaction_id
        end
left join {{schema}}.failed_transaction as failed
    on
        held.source = failed.source
        and held.transaction_id = failed.transaction_id
        and held.held_reason = failed.held_reason
        and right(concat('.', message.data_collection), length(failed.data_collection) + 1)
        = concat('.', failed.data_collection)
where
    published.channel = 'published'
    and held.held_reason in {tuple(SIGNS)}
    and message.data_collection is not null
group by held.source, held.transaction_id, held.held_reason, message.data_collection
order by held.source, held.transaction_id, message.data_collection
"""
TABLES: Final = ("held_message", "failed_transaction")
"""A lake of an earlier version may lack one."""


def name_held_tables(lake: Reader, report: Iterable[dict[str, Any]], schema: str) -> None:
    """Give each entry of `held` with such a reason its table, and repeat it for each further one.

    Args:
        lake: what reads it.
        report: entries of the sources, which are changed.
        schema: the schema that models are built in.
    """
    concerned = [entry for entry in report if any(one["reason"] in SIGNS for one in entry["held"])]
    # Most lakes hold nothing for such a reason, and need no further query.
    if concerned and all(lake.has(f"{schema}.{one}") for one in TABLES):
        rows = list(lake.rows(HELD_TABLES.format(schema=schema)))
        for entry in concerned:
            name_tables(entry, rows)


def name_tables(entry: dict[str, Any], rows: Iterable[dict[str, Any]]) -> None:
    """Name the tables in one source's entry.

    Args:
        entry: the source's entry, which is changed.
        rows: of HELD_TABLES, of all sources.

    >>> entry = {"source": "s", "held": [
    ...     {"transaction_id": "7", "reason": "missing_row", "table": None}]}
    >>> row = {"source": "s", "transaction_id": "7", "has_failed": True, "is_torn": False,
    ...        "lacks_old_values": False}
    >>> name_tables(entry, [row | {"data_collection": "public.k"},
    ...                     row | {"data_collection": "public.u", "has_failed": False}])
    >>> [one["table"] for one in entry["held"]]
    ['public.k']
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["source"] == entry["source"]:
            found.setdefault(row["transaction_id"], []).append(row)

    def named(one: dict[str, Any]) -> list[dict[str, Any]]:
        sign = SIGNS.get(one["reason"])
        tables = [row for row in found.get(one["transaction_id"], []) if sign and row[sign]]
        return [
            one
            | {
                "table": row["data_collection"],
                "expected": None,
                "received": None,
                "lacks_old_values": row["lacks_old_values"],
            }
            for row in tables
        ] or [one]

    entry["held"] = [each for one in entry["held"] for each in named(one)]
