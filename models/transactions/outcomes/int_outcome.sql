with

message as (

    select * from {{ ref('stg_message') }}

),

int_cut as (

    select * from {{ ref('int_cut') }}

),

progress as (

    select * from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('cut_id') }}

),

new_change as (

    select * from {{ ref('int_change_outcome') }}

),

-- A transaction is settled when the cut has passed it, or when a later snapshot replaced it (S5).
passed_transaction as (

    select
        pending.source,
        pending.transaction_id,
        coalesce(pending.decision = 'discard', false) as is_discarded
    from {{ ref('int_transaction') }} as pending
    inner join int_cut
        on pending.source = int_cut.source
    where
        pending.commit_position <= int_cut.link_position
        or pending.previous_commit_position < int_cut.snapshot_position
    union all
    select
        source,
        transaction_id,
        false as is_discarded
    from message
    where marker = 'END' and is_already_published
    union all
    -- No offset of an END that a restart sends again tells that it is published.
    select
        source,
        transaction_id,
        false as is_discarded
    from {{ ref('int_replayed_transaction') }}
    union all
    select
        marker.source,
        marker.transaction_id,
        false as is_discarded
    from {{ ref('stg_transaction_marker') }} as marker
    inner join int_cut
        on marker.source = int_cut.source
    -- The offsets of a recreated transaction topic start again.
    where
        marker.marker = 'END'
        and marker.log_position is null
        and not coalesce({{ ordered_by_end('marker.connector') }}, false)
        and marker.commit_position <= int_cut.link_position

),

settled_transaction as (

    select
        source,
        transaction_id,
        bool_or(is_discarded) as is_discarded
    from passed_transaction
    group by source, transaction_id

),

-- Its reads can stand at the very place where the newest commit ended.
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

),

settled_message as (

    select
        message.*,
        coalesce(
            placed_marker.source,
            transaction_topic.source_prefix,
            message.source,
            progress.topic_source
        ) as known_source,
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
                -- Settled by its place in int_change alone.
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
    from message
    inner join progress
        on message.topic = progress.topic and message.partition = progress.partition
    left join int_cut
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
    left join settled_transaction
        on
            coalesce(placed_marker.source, message.source) = settled_transaction.source
            and coalesce(change_group.group_id, message.transaction_id)
            = settled_transaction.transaction_id

)

select
    -- delivery
    settled.landing_id,
    settled.topic,
    settled.partition,
    settled.`offset`,
    settled.copy_number,
    settled.kind,

    -- what became of it
    settled.known_source as source,
    settled.transaction_id,
    settled.quarantine_detail,
    case
        when settled.is_discarded and settled.kind = 'change' then 'discarded'
        else settled.quarantine_reason
    end as quarantine_reason,
    case
        when settled.is_repeated_delivery then 'duplicate'
        when settled.kind in ('quarantined', 'tombstone') then settled.kind
        when
            (
                settled.kind in ('change', 'transaction_marker')
                or (settled.kind = 'logical_message' and settled.transaction_id is null)
                -- Its number shows that no transaction is missing there.
                or (settled.kind = 'schema_change' and {{ is_gtid('settled.log_position') }})
            )
            and not settled.is_settled
            and new_change.topic is null
            then 'held'
        when settled.kind != 'change' then 'control'
        when settled.copy_number > 1 or settled.is_already_published then 'duplicate'
        when settled.is_discarded then 'quarantined'
        when new_change.topic is null or new_change.is_superseded then 'superseded'
        else 'applied'
    end as outcome
from settled_message as settled
left join new_change
    -- What differs most comes first: Spark sorts by these in this order.
    on
        settled.event_hash = new_change.event_hash
        and settled.`offset` = new_change.`offset`
        and settled.partition = new_change.partition
        and settled.topic = new_change.topic
        -- The offsets of a recreated topic start again.
        and settled.source = new_change.source
        and settled.copy_number = 1
