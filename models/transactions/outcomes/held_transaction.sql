with

-- A message that landed cut off and again whole is readable.
unreadable_message as (

    select
        topic,
        partition,
        explode(unplaced_offsets) as `offset`
    from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('cut_id') }}

),

quarantined_topic as (

    select
        quarantined.source,
        collect_set(struct(quarantined.topic, quarantined.transaction_id)) as topics
    from {{ ref('quarantined_message') }} as quarantined
    left semi join unreadable_message
        on
            quarantined.topic = unreadable_message.topic
            and quarantined.partition = unreadable_message.partition
            and quarantined.`offset` = unreadable_message.`offset`
    group by quarantined.source

),

held_transaction as (

    select
        pending.source,
        pending.transaction_id,
        pending.commit_position,
        pending.log_order,
        pending.committed_at,
        pending.event_count,
        pending.miscounted_tables,
        held.held_reason
    from {{ ref('int_transaction') }} as pending
    inner join {{ ref('int_verdict') }} as held
        on
            pending.source = held.source
            and pending.transaction_id = held.transaction_id
            and held.verdict = 'hold'
    left join {{ ref('int_cut') }} as int_cut
        on pending.source = int_cut.source
    -- What is older than a snapshot that is published waits for nothing.
    where not coalesce(pending.previous_commit_position < int_cut.snapshot_position, false)
    union all
    select * from {{ ref('int_held_snapshot') }}

),

-- Changes of which no transaction is known wait for one, also where nothing else does.
held_change as (

    select
        outcome.source,
        count(*) as change_count
    from {{ ref('int_outcome') }} as outcome
    left anti join held_transaction
        on outcome.source = held_transaction.source
    where outcome.outcome = 'held' and outcome.kind = 'change'
    group by outcome.source

),

known_hold as (

    select * from held_transaction
    union all
    select
        source,
        'messages without transaction' as transaction_id,
        null as commit_position,
        null as log_order,
        null as committed_at,
        change_count as event_count,
        array() as miscounted_tables,
        'no_transaction' as held_reason
    from held_change

),

explained_transaction as (

    select
        held_transaction.*,
        case
            when
                held_transaction.held_reason = 'missing_events'
                and exists(
                    quarantined_topic.topics,
                    -- A message that names no transaction may be of any.
                    message -> coalesce(
                        message.transaction_id = held_transaction.transaction_id, true
                    )
                    and exists(
                        held_transaction.miscounted_tables,
                        miscounted -> endswith(
                            message.topic, {{ table_suffix('miscounted.data_collection') }}
                        )
                    )
                )
                then 'quarantined_event'
            else held_transaction.held_reason
        end as explained_reason
    from known_hold as held_transaction
    left join quarantined_topic
        on held_transaction.source = quarantined_topic.source

)

select
    -- identity
    source,
    transaction_id,

    -- position
    commit_position,
    log_order,
    committed_at,

    -- why
    event_count,
    miscounted_tables,
    case
        when {{ matches_any('explained_reason', var('refused_holds')) }}
            then raise_error(concat(
                {{ shown_transaction('transaction_id') }}, ' of ', source,
                ': is held as ', explained_reason,
                ', which refused_holds names; see the runbook, or take it out of refused_holds'
            ))
        else explained_reason
    end as held_reason
from explained_transaction
