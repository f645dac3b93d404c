with

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

starting_progress as (

    select
        topic,
        partition,
        last_offset
    from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('starting_cut_id') }}

),

-- A keyless read is known by its delivery alone, so a copy of it cannot be told. What a later
-- snapshot replaced need not be published whole, nor need a table that is not ingested. A snapshot
-- with which a partition goes on is not older than a published one.
late_event as (

    select
        event.*,
        coalesce(event.log_position, event.commit_position) as commit_place
    from {{ ref('stg_change_event') }} as event
    inner join starting_commit
        on event.source = starting_commit.source
    left join starting_progress
        on
            event.topic = starting_progress.topic
            and event.partition = starting_progress.partition
    where
        {{ run_has('late_change') }}
        and event.is_already_published
        and not {{ matches_any('event.data_collection', var('not_ingested_tables')) }}
        and (event.row_key is not null or event.snapshot is null)
        and not coalesce(
            coalesce(event.previous_commit_position, event.event_position)
            < starting_commit.snapshot_position
            and not coalesce(
                event.snapshot != 'incremental'
                and event.previous_commit_position is null
                and event.`offset` > starting_progress.last_offset,
                false
            ),
            false
        )

),

published as (

    select
        source,
        cut_id,
        transaction_id,
        snapshot_position,
        predecessor_position,
        coalesce(log_position, commit_position) as commit_place
    from {{ ref('commit') }}

),

-- Through the cut of its commit, so that only the partitions of late events are read.
placed_event as (

    select
        late_event.source,
        late_event.topic,
        late_event.partition,
        late_event.`offset`,
        late_event.transaction_id,
        late_event.event_hash,
        published.cut_id,
        coalesce(
            published.transaction_id,
            late_event.transaction_id,
            {{ snapshot_id('late_event.event_position') }}
        ) as decided_id
    from late_event
    left join published
        on
            late_event.source = published.source
            and case
                when late_event.snapshot is null
                    then late_event.transaction_id = published.transaction_id
                when late_event.snapshot = 'incremental' and late_event.connector != 'postgresql'
                    then late_event.commit_place = published.commit_place
                when late_event.snapshot = 'incremental'
                    then
                        published.transaction_id is not null
                        and late_event.previous_commit_position <=> published.predecessor_position
                else late_event.event_position = published.snapshot_position
            end

)

select
    placed_event.source,
    placed_event.topic,
    placed_event.partition,
    placed_event.`offset`,
    placed_event.transaction_id
from placed_event
-- What an operator decided on need not be published whole: a transaction, with the window that it
-- closes if it was released, or a snapshot.
left anti join {{ ref('int_operator_decision') }} as decided
    on
        placed_event.source = decided.source
        and placed_event.decided_id = decided.transaction_id
        and decided.decision in ('release', 'discard')
left join {{ ref('int_change') }} as published_change
    on
        placed_event.cut_id = published_change.cut_id
        and placed_event.source = published_change.source
        and placed_event.transaction_id <=> published_change.transaction_id
        and placed_event.event_hash = published_change.event_hash
group by
    placed_event.source,
    placed_event.topic,
    placed_event.partition,
    placed_event.`offset`,
    placed_event.transaction_id
having count(published_change.event_hash) = 0
