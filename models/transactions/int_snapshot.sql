with

pending_read as (

    select * from {{ ref('stg_change_event') }}
    where snapshot is not null and not is_already_published

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

read_table as (

    select
        source,
        data_collection,
        max(event_position) as snapshot_position,
        min(event_position) as first_position,
        max(committed_at) as committed_at,
        count_if(copy_number = 1) as read_count,
        -- A snapshot's first table marks its only row as first, others as last (Debezium 3.6.3).
        bool_or(snapshot in ('last_in_data_collection', 'last'))
        or (bool_or(snapshot = 'first') and count_if(copy_number = 1) = 1) as has_last_of_table,
        bool_or(snapshot = 'last') as has_last,
        bool_or(snapshot = 'incremental') as has_incremental
    from pending_read
    group by source, data_collection

),

read_topic as (

    select
        source,
        topic,
        max(partition) + 1 = count(*) as has_every_partition,
        bool_and(has_no_gap) as has_no_gap,
        bool_and(has_later_message) as has_later_message
    from {{ ref('int_snapshot_partition') }}
    group by source, topic

),

proven_topic as (

    select
        source,
        bool_and(
            has_no_gap and (has_every_partition or {{ var('landing_reaches_the_end') }})
        ) as has_no_gap,
        bool_and(has_later_message) as has_later_message
    from read_topic
    group by source

),

snapshot as (

    select
        source,
        max(snapshot_position) as snapshot_position,
        min(first_position) as first_position,
        max(committed_at) as committed_at,
        sum(read_count) as read_count,
        bool_and(has_last_of_table) and bool_or(has_last) as has_last,
        bool_or(has_incremental) as has_incremental
    from read_table
    group by source

)

select
    -- identity
    snapshot.source,

    -- position
    snapshot.snapshot_position,
    snapshot.committed_at,

    -- counts
    snapshot.read_count,

    -- proof
    case
        when snapshot.has_incremental then 'incremental_snapshot'
        when starting_commit.source is not null then 'repeated_snapshot'
        when snapshot.first_position is distinct from snapshot.snapshot_position
            then 'repeated_snapshot'
        when not snapshot.has_last or not proven_topic.has_no_gap then 'missing_reads'
        when not proven_topic.has_later_message and not {{ var('landing_reaches_the_end') }}
            then 'unproven_reads'
    end as incomplete_reason
from snapshot
inner join proven_topic
    on snapshot.source = proven_topic.source
left join starting_commit
    on snapshot.source = starting_commit.source
