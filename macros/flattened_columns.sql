{#-
    The columns of a flattened message, from a relation with the delivery, the struct `flat` and its epoch, which stands
    before every position and id (S2): what a restored source gives out again is new, and after all that was before.
-#}
{%- macro flattened_columns() -%}
{%- set log_position = (
    'case when ' ~ is_gtid('flat.log_position') ~ ' then concat(epoch, flat.log_position)'
    ~ " else replace(flat.log_position, '#', concat('#', epoch)) end"
) -%}
-- delivery
    landing_id,
    topic,
    partition,
    `offset`,

    -- what it is
    flat.kind,
    flat.quarantine_reason,
    flat.quarantine_detail,
    flat.has_repeated_names,

    -- what it belongs to
    flat.unit_kind,
    case
        when flat.unit_kind = 'window' and flat.unit_id = flat.log_position then {{ log_position }}
        else concat(epoch, flat.unit_id)
    end as unit_id,

    -- where it comes from
    flat.connector,
    flat.source,
    flat.database_name,
    flat.schema_name,
    flat.table_name,
    flat.data_collection,

    -- position
    flat.operation,
    flat.snapshot,
    concat(epoch, flat.transaction_id) as transaction_id,
    flat.is_whole_transaction,
    flat.marker,
    flat.event_count,
    flat.collection_counts,
    concat(epoch, flat.commit_position) as commit_position,
    {{ log_position }} as log_position,
    concat(epoch, flat.previous_commit_position) as previous_commit_position,
    concat(epoch, flat.event_position) as event_position,
    flat.total_order,
    flat.data_collection_order,
    timestamp_micros(flat.committed_at_micros) as committed_at,

    -- what makes it itself
    coalesce(flat.event_hash, xxhash64(topic, partition, `offset`)) as event_hash,
    flat.content_hash,
    flat.order_hash,

    -- payload
    flat.row_key,
    flat.new_row_key,
    flat.old_row_key,
    flat.before,
    flat.after,
    flat.column_types,
    flat.table_changes,
    flat.emptied_tables,
    flat.new_names,
    flat.signal_type,
    flat.signal_data,
    flat.asks_blocking,
    flat.notification
{%- endmacro -%}
