{#-
    Hash of what makes a message itself within its source and transaction, whatever its delivery (S1). Two copies of
    a change event hash alike. A change of a keyless table, or without a position, is known by its content and its
    order; a read of PostgreSQL, or under a bare key, by its key and its content; a keyless read and every message that
    is not a change only by its delivery. A job of CDL may send again in 2.0 what it sent in 1.0, which names no
    database (S22).
-#}
{%- macro event_hash() -%}
    {%- set database = "case when connector != 'cdl' then database_name end" -%}
case
    when kind != 'change' or (row_key is null and snapshot is not null)
        then xxhash64(kind, topic, partition, `offset`)
    when row_key is null
        then xxhash64(
            {{ database }},
            schema_name,
            table_name,
            operation,
            event_position,
            total_order,
            coalesce(before, ''),
            coalesce(after, '')
        )
    -- Without a position the transaction block orders it, and its content tells two of one place apart.
    when snapshot is null and event_position is null
        then xxhash64(
            {{ database }},
            schema_name,
            table_name,
            operation,
            row_key,
            total_order,
            coalesce(before, ''),
            coalesce(after, '')
        )
    -- All reads of a snapshot stand at one position, and a message key need not be unique. Of other connectors two
    -- snapshots can stand at one position, between which settings of the connector change how values are written.
    -- A key without a name is a bare value (`ExtractField$Key`), which may be one column of several.
    when snapshot is not null and (connector = 'postgresql' or startswith(row_key, '{"":'))
        then xxhash64(
            {{ database }}, schema_name, table_name, operation, event_position, row_key, coalesce(after, '')
        )
    else xxhash64({{ database }}, schema_name, table_name, operation, event_position, row_key)
end
{%- endmacro -%}
