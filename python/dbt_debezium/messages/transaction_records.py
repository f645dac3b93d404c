"""BEGIN and END, the records of the transaction topic. They name no connector and no source."""

from msgspec import Raw, Struct, ValidationError

from dbt_debezium.connectors import SOURCES
from dbt_debezium.connectors.base import Integer, Mark, Natural, Source, integer, micros
from dbt_debezium.connectors.generic import GenericSource
from dbt_debezium.connectors.lenient import without_unreadable_times
from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_text import located, utf8
from dbt_debezium.json_values import json_decoder
from dbt_debezium.messages.flat import Flat
from dbt_debezium.settings import Settings


class _CollectionCount(Struct):
    data_collection: str
    event_count: Natural


class _Marker(Struct):
    status: str
    id: str
    event_count: Natural = None
    data_collections: list[_CollectionCount] | None = None
    ts_ms: Integer = None


_new_tuple = tuple.__new__
_decode = json_decoder(_Marker)


def read_transaction_record(
    topic: str, row_key: str | None, payload: Raw, settings: Settings
) -> Flat:
    """Read a BEGIN or an END.

    Args:
        topic: the message's topic.
        row_key: its key.
        payload: its value without Kafka Connect's schema wrapper.
        settings: what the project says of its connectors.

    Raises:
        EnvelopeError: it is not in the form of the known connectors.
    """
    marker = _marker(payload)
    source = source_of_record(topic, settings)
    known = known_transaction_id(marker.id, source, settings)
    if known is None:
        connectors = ", ".join(SOURCES)
        raise EnvelopeError(
            "unknown_connector",
            f"id: not in a form of the known connectors: {connectors}; "
            "generic_sources names sources of others, transaction_topics their transaction topics",
        )
    connector, (transaction_id, position, log_position) = known
    database = None
    event_count = None
    collection_counts: dict[str, int] | None = None
    if marker.status == "END":
        event_count = integer("event_count", marker.event_count)
        # An END without its counts would pass for a transaction that changed no table.
        if event_count is None or (marker.data_collections is None and event_count > 0):
            raise EnvelopeError("bad_type", "event_count, data_collections: expected in an END")
        collection_counts = {}
        databases = set()
        for item in marker.data_collections or []:
            table = item.data_collection
            if connector.names_databases:
                database, table = connector.read_collection(table)
                databases.add(database)
            count = integer("data_collections.event_count", item.event_count)
            if count is None:
                raise EnvelopeError("bad_type", "data_collections.event_count: expected an integer")
            counted = collection_counts.get(table, 0) + count
            collection_counts[table] = integer("data_collections", counted) or 0
        database = database if len(databases) == 1 else None
        if database is not None:
            source = f"{source}.{utf8(database)}"
    return _new_tuple(
        Flat,
        (
            "transaction_marker",
            None,  # quarantine_reason
            None,  # quarantine_detail
            connector.connector if connector.has_own_transaction_ids else None,
            source,
            database,
            None,  # schema_name
            None,  # table_name
            None,  # data_collection
            None,  # operation
            None,  # snapshot
            transaction_id,
            None,  # is_whole_transaction
            marker.status,
            event_count,
            collection_counts,
            position if marker.status == "END" else None,
            log_position,
            None,  # previous_commit_position
            None,  # event_position
            None,  # total_order
            None,  # data_collection_order
            micros(None, marker.ts_ms),
            row_key,
            None,  # new_row_key
            None,  # old_row_key
            None,  # before
            None,  # after
            None,  # column_types
            None,  # table_changes
            None,  # signal_type
            None,  # signal_data
            None,  # notification
        ),
    )


def _marker(payload: Raw) -> _Marker:
    try:
        return _decode(payload)
    except ValidationError as error:
        readable = without_unreadable_times(payload)
        if readable is None:
            raise EnvelopeError("bad_type", located(error)) from None
        return _marker(Raw(readable.encode()))


def source_of_record(topic: str, settings: Settings) -> str:
    """The source that a setting or the topic's name says; the models know whether it is true.

    A BEGIN or END names no source, and its topic may have any name. Only the changes that carry
    its id show which source it is of.

    >>> source_of_record("shop.transaction", Settings()), source_of_record("tx", Settings())
    ('shop', 'tx')
    """
    named = settings.transaction_source(topic)
    return utf8(named or topic.removesuffix(".transaction") or topic)


def known_transaction_id(
    transaction_id: str, source_name: str, settings: Settings
) -> tuple[type[Source], Mark] | None:
    """Transaction records name no connector: the form of the id tells, or a setting."""
    if settings.generic_order(source_name) is not None:
        mark = GenericSource.read_transaction_id(transaction_id)
        return None if mark is None else (GenericSource, mark)
    for source in SOURCES.values():
        mark = source.read_transaction_id(transaction_id)
        if mark is not None:
            return source, mark
    return None
