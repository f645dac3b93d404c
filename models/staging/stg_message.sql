select
    -- delivery
    sent.landing_id,
    sent.topic,
    sent.partition,
    sent.`offset`,

    -- what it is
    sent.kind,
    sent.quarantine_reason,
    sent.quarantine_detail,
    sent.has_repeated_names,

    -- where it comes from
    sent.connector,
    sent.source,
    sent.database_name,
    sent.schema_name,
    sent.table_name,
    sent.data_collection,

    -- position
    sent.operation,
    sent.snapshot,
    sent.transaction_id,
    sent.is_whole_transaction,
    sent.marker,
    sent.event_count,
    sent.collection_counts,
    sent.commit_position,
    sent.log_position,
    sent.previous_commit_position,
    sent.event_position,
    sent.sent_position,
    sent.total_order,
    sent.data_collection_order,
    sent.committed_at,

    -- payload
    sent.row_key,
    sent.new_row_key,
    sent.old_row_key,
    sent.before,
    sent.after,
    sent.column_types,
    sent.table_changes,
    sent.signal_type,
    sent.signal_data,
    sent.notification,

    -- identity
    sent.event_hash,
    coalesce(
        case
            when sent.log_position is not null
                then
                    split_part(sent.log_position, '#', 2)
                    <= starting_commit.log_positions[split_part(sent.log_position, '#', 1)]
                    or (
                        sent.kind = 'change'
                        and sent.event_position <= starting_commit.snapshot_position
                    )
            -- Readers have seen more than a snapshot that lands behind what follows it.
            when
                sent.snapshot != 'incremental'
                and sent.connector != 'cdl'
                -- One that a transaction signals stands where it does.
                and sent.previous_commit_position is null
                and sent.event_position < starting_commit.event_position
                -- An offset is no place in the log.
                and not (
                    {{ ordered_by_end('sent.connector') }}
                    and starting_commit.log_positions['place'] is null
                )
                then true
            when sent.previous_commit_position is not null
                then
                    sent.previous_commit_position < starting_commit.link_position
                    -- If the slot was lost inside a transaction that an operator decided on,
                    -- the new stream may name the same predecessor.
                    and not coalesce(
                        sent.snapshot is null
                        and sent.transaction_id
                        != starting_commit.end_markers[0].transaction_id
                        and startswith(
                            starting_commit.link_position,
                            concat(sent.previous_commit_position, '+')
                        ),
                        false
                    )
                    -- Behind a restart inside the first transaction after a snapshot a change
                    -- names one of its own, which may be older (Debezium 3.6.3).
                    and (
                        sent.snapshot is not null
                        or starting_commit.link_position
                        is distinct from starting_commit.snapshot_position
                        or sent.event_position <= starting_commit.snapshot_position
                    )
            when sent.snapshot = 'incremental' and sent.commit_position is not null
                then sent.commit_position <= starting_commit.link_position
            when sent.snapshot is not null
                then sent.event_position <= starting_commit.snapshot_position
            when sent.kind = 'logical_message'
                then sent.event_position <= starting_commit.link_position
            when {{ is_ordered_by_offset('sent', var('watermark_sources')) }}
                then sent.is_of_published_transaction
            when sent.connector = 'cdl'
                then sent.event_position <= starting_commit.link_position
            -- Only the first transaction of a stream names no predecessor; it may have begun
            -- before what is published had ended.
            when sent.kind = 'change' and sent.connector = 'postgresql'
                then array_contains(
                    starting_commit.first_transaction_ids, sent.transaction_id
                )
            else sent.commit_position <= starting_commit.link_position
        end,
        false
    ) as is_already_published,
    row_number() over copies as copy_number,
    first_value(sent.content_hash) over copies = sent.content_hash as has_content_of_first_copy,
    first_value(sent.order_hash) over copies = sent.order_hash as has_order_of_first_copy,
    coalesce(
        struct(sent.topic, sent.partition, sent.`offset`)
        = lag(struct(sent.topic, sent.partition, sent.`offset`)) over copies,
        false
    ) as is_repeated_delivery
from {{ ref('stg_sent_message') }} as sent
left join {{ ref('int_starting_commit') }} as starting_commit
    on sent.source = starting_commit.source
window copies as (
    partition by sent.source, sent.transaction_id, sent.sent_position, sent.event_hash
    order by sent.topic, sent.partition, sent.`offset`, sent.landing_id
)
