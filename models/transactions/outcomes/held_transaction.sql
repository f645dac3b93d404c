with

int_cut as (

    select * from {{ ref('int_cut') }}

),

chain_link as (

    select * from {{ ref('int_chain_link') }}

),

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

-- A snapshot that a later one replaced is held no more.
held_snapshot as (

    select
        chain_link.source,
        {{ snapshot_id('chain_link.snapshot_position') }} as transaction_id,
        chain_link.position,
        chain_link.committed_at,
        chain_link.held_reason,
        snapshot.read_count,
        case
            when chain_link.held_reason = 'missing_reads' then array_sort(snapshot.lacking_tables)
            else array()
        end as lacking_tables
    from chain_link
    inner join {{ ref('int_snapshot') }} as snapshot
        on
            chain_link.source = snapshot.source
            and chain_link.snapshot_position = snapshot.snapshot_position
    left join int_cut
        on chain_link.source = int_cut.source
    where
        chain_link.held_reason is not null
        and coalesce(chain_link.position > int_cut.link_position, true)

),

first_held_snapshot as (

    select
        source,
        min(position) as position
    from held_snapshot
    group by source

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
        coalesce(
            chain_link.held_reason,
            pending.incomplete_reason,
            case
                when first_held_snapshot.position < pending.commit_position
                    then 'follows_held_snapshot'
                else 'follows_held_transaction'
            end
        ) as held_reason
    from {{ ref('int_transaction') }} as pending
    left join int_cut
        on pending.source = int_cut.source
    left join chain_link
        on
            pending.source = chain_link.source
            and pending.transaction_id = chain_link.transaction_id
            and chain_link.link_kind = 'transaction'
    left join first_held_snapshot
        on pending.source = first_held_snapshot.source
    where
        coalesce(pending.commit_position > int_cut.link_position, true)
        and not coalesce(pending.previous_commit_position < int_cut.snapshot_position, false)
    union all
    select
        source,
        transaction_id,
        position as commit_position,
        position as log_order,
        committed_at,
        read_count as event_count,
        lacking_tables as miscounted_tables,
        held_reason
    from held_snapshot

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
