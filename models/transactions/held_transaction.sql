with

int_cut as (

    select * from {{ ref('int_cut') }}

),

transaction_link as (

    select * from {{ ref('int_transaction_link') }}

),

quarantined_topic as (

    select
        source,
        topic
    from {{ ref('quarantined_message') }}
    group by source, topic

),

held_snapshot as (

    select * from {{ ref('int_snapshot') }}
    where incomplete_reason is not null

),

held_transaction as (

    select
        pending.source,
        pending.transaction_id,
        pending.commit_position,
        pending.committed_at,
        pending.event_count,
        pending.miscounted_tables,
        coalesce(
            transaction_link.held_reason,
            pending.incomplete_reason,
            case when held_snapshot.source is not null then 'follows_held_snapshot' end,
            'follows_held_transaction'
        ) as held_reason
    from {{ ref('int_transaction') }} as pending
    left join int_cut
        on pending.source = int_cut.source
    left join transaction_link
        on
            pending.source = transaction_link.source
            and pending.transaction_id = transaction_link.transaction_id
    left join held_snapshot
        on pending.source = held_snapshot.source
    where
        int_cut.commit_position is null
        or pending.commit_position > int_cut.commit_position
        or pending.commit_position is null
    union all
    select
        source,
        cast(null as string) as transaction_id,
        cast(null as string) as commit_position,
        committed_at,
        read_count as event_count,
        array() as miscounted_tables,
        incomplete_reason as held_reason
    from held_snapshot

),

explained_transaction as (

    select
        held_transaction.source,
        held_transaction.transaction_id,
        held_transaction.commit_position,
        held_transaction.committed_at,
        held_transaction.event_count,
        held_transaction.miscounted_tables,
        held_transaction.held_reason,
        bool_or(endswith(
            quarantined_topic.topic, element_at(held_transaction.miscounted_tables, 1).data_collection
        )) as has_quarantined_event
    from held_transaction
    left join quarantined_topic
        on held_transaction.source = quarantined_topic.source and held_transaction.held_reason = 'missing_events'
    group by all

)

select
    -- identity
    source,
    transaction_id,

    -- position
    commit_position,
    committed_at,

    -- why
    case when has_quarantined_event then 'quarantined_event' else held_reason end as held_reason,
    event_count,
    miscounted_tables
from explained_transaction
