with

-- Reads of a held snapshot can stand at the very place where the newest commit ended.
held_snapshot as (

    select
        source,
        read_position
    from {{ ref('int_verdict') }}
    where verdict = 'hold' and read_position is not null
    group by source, read_position

),

-- BEGIN and END of which nothing shows the source are held.
transaction_topic as (

    select
        topic,
        coalesce(source_prefix, '') as source_prefix
    from {{ ref('int_transaction_topic') }}

),

-- A marker that belongs to no transaction waits for nothing. END may name more than its source.
placed_marker as (

    select
        topic,
        partition,
        `offset`,
        any_value(source) as source
    from {{ ref('stg_transaction_marker') }}
    group by topic, partition, `offset`

)

select
    -- delivery
    message.landing_id,
    message.topic,
    message.partition,
    message.`offset`,
    message.copy_number,
    message.is_repeated_delivery,
    message.is_already_published,

    -- what it is
    message.kind,
    message.quarantine_reason,
    message.quarantine_detail,

    -- identity
    message.source,
    message.transaction_id,
    message.log_position,
    message.event_hash,
    coalesce(
        placed_marker.source,
        transaction_topic.source_prefix,
        message.source,
        progress.topic_source
    ) as known_source,

    -- what became of it
    coalesce(settled_transaction.is_discarded, false) as is_discarded,
    settled_transaction.source is not null
    or message.is_already_published
    or (
        message.kind = 'transaction_marker'
        and placed_marker.topic is null
        and transaction_topic.source_prefix != ''
    )
    or coalesce(
        case
            when message.kind = 'schema_change'
                then
                    split_part(message.log_position, '#', 2)
                    <= int_cut.log_positions[split_part(message.log_position, '#', 1)]
            when message.snapshot is null and message.transaction_id is not null then false
            when message.snapshot is not null and held_snapshot.source is not null then false
            -- Only int_change says where they are.
            when message.snapshot = 'incremental' and message.connector != 'postgresql'
                then false
            when message.connector != 'postgresql'
                then message.event_position <= int_cut.snapshot_position
            -- Incremental and blocking reads, and messages outside of transactions.
            when message.previous_commit_position is not null
                then message.previous_commit_position < int_cut.link_position
            else message.event_position <= int_cut.link_position
        end,
        false
    ) as is_settled
from {{ ref('stg_message') }} as message
inner join {{ ref('partition_progress') }} as progress
    on
        message.topic = progress.topic
        and message.partition = progress.partition
        and progress.cut_id = {{ candidate('cut_id') }}
left join {{ ref('int_cut') }} as int_cut
    on message.source = int_cut.source
left join placed_marker
    on
        message.topic = placed_marker.topic
        and message.partition = placed_marker.partition
        and message.`offset` = placed_marker.`offset`
left join transaction_topic
    on
        message.topic = transaction_topic.topic
        and (
            message.kind = 'transaction_marker'
            or (message.kind = 'quarantined' and message.table_name is null)
        )
left join {{ ref('stg_change_group') }} as change_group
    on
        message.source = change_group.source
        and message.transaction_id = change_group.transaction_id
left join held_snapshot
    on
        message.source = held_snapshot.source
        and message.event_position = held_snapshot.read_position
left join {{ ref('int_settled_transaction') }} as settled_transaction
    on
        coalesce(placed_marker.source, message.source) = settled_transaction.source
        and coalesce(change_group.group_id, message.transaction_id)
        = settled_transaction.transaction_id
