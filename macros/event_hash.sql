{#-
    Hash of what makes a message itself within its source and transaction, whatever its delivery (S1). Two copies of
    a change event hash alike. A change of a keyless table is known by its content and its order, a keyless read and
    every message that is not a change only by its delivery.
-#}
{%- macro event_hash() -%}
case
    when kind != 'change' or (row_key is null and snapshot is not null)
        then xxhash64(kind, topic, partition, `offset`)
    when row_key is null
        then xxhash64(
            database_name,
            schema_name,
            table_name,
            operation,
            event_position,
            total_order,
            coalesce(before, ''),
            coalesce(after, '')
        )
    else xxhash64(database_name, schema_name, table_name, operation, event_position, row_key)
end
{%- endmacro -%}
