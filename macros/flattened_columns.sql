{#- The columns of a flattened message, from a relation with the delivery and the struct `flat`. -#}
{%- macro flattened_columns() -%}
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
    flat.transaction_id,
    flat.is_whole_transaction,
    flat.marker,
    flat.event_count,
    flat.collection_counts,
    flat.commit_position,
    flat.log_position,
    flat.previous_commit_position,
    flat.event_position,
    flat.total_order,
    flat.data_collection_order,
    timestamp_micros(flat.committed_at_micros) as committed_at,

    -- payload
    flat.row_key,
    flat.new_row_key,
    flat.old_row_key,
    flat.before,
    flat.after,
    flat.column_types,
    flat.table_changes,
    flat.signal_type,
    flat.signal_data,
    flat.notification
{%- endmacro -%}
