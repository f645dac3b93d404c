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
        collect_set(topic) as topics
    from {{ ref('quarantined_message') }}
    group by source

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

)

select
    -- identity
    held_transaction.source,
    held_transaction.transaction_id,

    -- position
    held_transaction.commit_position,
    held_transaction.committed_at,

    -- why
    held_transaction.event_count,
    held_transaction.miscounted_tables,
    case
        when
            held_transaction.held_reason = 'missing_events'
            and exists(
                quarantined_topic.topics,
                topic -> endswith(
                    topic, concat('.', get(held_transaction.miscounted_tables, 0).data_collection)
                )
            )
            then 'quarantined_event'
        else held_transaction.held_reason
    end as held_reason
from held_transaction
left join quarantined_topic
    on held_transaction.source = quarantined_topic.source
