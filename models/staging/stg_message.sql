with

new_message as (

    select
        message.*,
        flatten_message(
            message.topic, message.key, message.value, message.headers, {{ connector_settings() }}
        ) as flat
    from {{ source('landing', 'message') }} as message
    where
        message.landing_id > {{ candidate('starting_landing_id') }}
        and message.landing_id <= {{ candidate('landing_id') }}

),

-- BEGIN and END name no source. Theirs is that of their topic, as an earlier run has shown it, or
-- as its name says until int_transaction_topic knows it.
transaction_topic as (

    select
        topic,
        max(marker_source) as source_prefix
    from {{ source('pointer', 'partition_progress') }}
    where cut_id = {{ candidate('starting_cut_id') }} and marker_source is not null
    group by topic

),

epoch as (

    select
        *,
        collect_set(source) over () as sources
    from {{ ref('int_epoch') }}

),

-- BEGIN and END of Db2 may name the database, which is no part of the source.
epoch_message as (

    select
        new_message.*,
        coalesce(epoch.position_prefix, '') as epoch
    from new_message
    left join transaction_topic
        on
            new_message.flat.kind = 'transaction_marker'
            and new_message.topic = transaction_topic.topic
    left join epoch
        on
            new_message.timestamp >= epoch.starts_at
            and coalesce(new_message.timestamp < epoch.ends_at, true)
            and (
                case
                    when transaction_topic.topic is not null
                        then
                            concat_ws(
                                '.', transaction_topic.source_prefix, new_message.flat.database_name
                            )
                    else new_message.flat.source
                end = epoch.source
                or (
                    new_message.flat.kind = 'transaction_marker'
                    and new_message.flat.connector is null
                    and not array_contains(epoch.sources, new_message.flat.source)
                    and regexp_replace(new_message.flat.source, '[.][^.]*$', '') = epoch.source
                )
            )

),

flattened_message as (

    select {{ flattened_columns() }}
    from epoch_message

),

held_message as (

    select held.* except (cut_id)
    from {{ source('pointer', 'held_message') }} as held
    where held.cut_id = {{ candidate('starting_cut_id') }}

),

sent_message as (

    select * from flattened_message
    union all
    select * from held_message

),

message as (

    select
        sent.* except (source),
        case
            when transaction_topic.topic is not null
                then concat_ws('.', transaction_topic.source_prefix, sent.database_name)
            else sent.source
        end as source
    from sent_message as sent
    left join transaction_topic
        on sent.kind = 'transaction_marker' and sent.topic = transaction_topic.topic

),

identified_message as (

    select
        *,
        {{ event_hash() }} as event_hash,
        xxhash64(before, after) as content_hash,
        xxhash64(total_order, data_collection_order) as order_hash
    from message

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

{% if var('watermark_sources') -%}
{{ message_in_order(var('watermark_sources')) }}

{% endif -%}
ordered_message as (

    {% if var('watermark_sources') -%}
    select
        * except (event_position, position_in_order),
        event_position as sent_position,
        position_in_order as event_position
    from message_in_order
    union all
    {% endif -%}
    select
        * except (event_position),
        false as is_of_published_transaction,
        event_position as sent_position,
        event_position
    from identified_message
    where not {{ is_ordered_by_offset('identified_message', var('watermark_sources')) }}

),

placed_message as (

    select
        placeable.*,
        coalesce(
            case
                when placeable.log_position is not null
                    then
                        split_part(placeable.log_position, '#', 2)
                        <= starting_commit.log_positions[split_part(placeable.log_position, '#', 1)]
                        or (
                            placeable.kind = 'change'
                            and placeable.event_position <= starting_commit.snapshot_position
                        )
                -- Readers have seen more than a snapshot that lands behind what follows it.
                when
                    placeable.snapshot != 'incremental'
                    and placeable.connector != 'cdl'
                    -- One that a transaction signals stands where it does.
                    and placeable.previous_commit_position is null
                    and placeable.event_position < starting_commit.event_position
                    -- An offset is no place in the log.
                    and not (
                        {{ ordered_by_end('placeable.connector') }}
                        and starting_commit.log_positions['place'] is null
                    )
                    then true
                when placeable.previous_commit_position is not null
                    then
                        placeable.previous_commit_position < starting_commit.link_position
                        -- If the slot was lost inside a transaction that an operator decided on,
                        -- the new stream may name the same predecessor.
                        and not coalesce(
                            placeable.snapshot is null
                            and placeable.transaction_id
                            != starting_commit.end_markers[0].transaction_id
                            and startswith(
                                starting_commit.link_position,
                                concat(placeable.previous_commit_position, '+')
                            ),
                            false
                        )
                        -- Behind a restart inside the first transaction after a snapshot a change
                        -- names one of its own, which may be older (Debezium 3.6.3).
                        and (
                            placeable.snapshot is not null
                            or starting_commit.link_position
                            is distinct from starting_commit.snapshot_position
                            or placeable.event_position <= starting_commit.snapshot_position
                        )
                when placeable.snapshot = 'incremental' and placeable.commit_position is not null
                    then placeable.commit_position <= starting_commit.link_position
                when placeable.snapshot is not null
                    then placeable.event_position <= starting_commit.snapshot_position
                when placeable.kind = 'logical_message'
                    then placeable.event_position <= starting_commit.link_position
                when {{ is_ordered_by_offset('placeable', var('watermark_sources')) }}
                    then placeable.is_of_published_transaction
                when placeable.connector = 'cdl'
                    then placeable.event_position <= starting_commit.link_position
                -- Only the first transaction of a stream names no predecessor; it may have begun
                -- before what is published had ended.
                when placeable.kind = 'change' and placeable.connector = 'postgresql'
                    then array_contains(
                        starting_commit.first_transaction_ids, placeable.transaction_id
                    )
                else placeable.commit_position <= starting_commit.link_position
            end,
            false
        ) as is_already_published
    from ordered_message as placeable
    left join starting_commit
        on placeable.source = starting_commit.source

)

select
    -- delivery
    landing_id,
    topic,
    partition,
    `offset`,

    -- what it is
    kind,
    quarantine_reason,
    quarantine_detail,
    has_repeated_names,

    -- where it comes from
    connector,
    source,
    database_name,
    schema_name,
    table_name,
    data_collection,

    -- position
    operation,
    snapshot,
    transaction_id,
    is_whole_transaction,
    marker,
    event_count,
    collection_counts,
    commit_position,
    log_position,
    previous_commit_position,
    event_position,
    sent_position,
    total_order,
    data_collection_order,
    committed_at,

    -- payload
    row_key,
    new_row_key,
    old_row_key,
    before,
    after,
    column_types,
    table_changes,
    signal_type,
    signal_data,
    notification,

    -- identity
    event_hash,
    is_already_published,
    row_number() over (
        partition by source, transaction_id, sent_position, event_hash
        order by topic, partition, `offset`, landing_id
    ) as copy_number,
    first_value(content_hash) over (
        partition by source, transaction_id, sent_position, event_hash
        order by topic, partition, `offset`, landing_id
    ) = content_hash as has_content_of_first_copy,
    first_value(order_hash) over (
        partition by source, transaction_id, sent_position, event_hash
        order by topic, partition, `offset`, landing_id
    ) = order_hash as has_order_of_first_copy,
    coalesce(
        struct(topic, partition, `offset`) = lag(struct(topic, partition, `offset`)) over (
            partition by source, transaction_id, sent_position, event_hash
            order by topic, partition, `offset`, landing_id
        ),
        false
    ) as is_repeated_delivery
from placed_message
