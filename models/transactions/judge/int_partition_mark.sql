with

judged_partition as (

    select * from {{ ref('int_judged_partition') }}
    where is_own

),

landed_range as (

    select
        source,
        topic,
        partition,
        false as is_of_markers,
        inline(known_ranges) as (first_offset, last_offset)
    from judged_partition
    union all
    select
        source,
        topic,
        partition,
        true as is_of_markers,
        inline(known_ranges) as (first_offset, last_offset)
    from {{ ref('int_judged_marker_partition') }}

),

-- Reads of PostgreSQL name the commit before the transaction that closes their window.
incremental_window as (

    select
        source,
        previous_commit_position as previous_position
    from {{ ref('stg_change_event') }}
    where
        {{ run_has('window_read') }}
        and snapshot = 'incremental'
        and connector = 'postgresql'
        and not is_already_published
    group by source, previous_commit_position

),

-- An END may count changes of a table without saying where it stands.
unlanded_table as (

    select
        source,
        data_collection,
        coalesce(last_commit_position, '~') as last_position
    from {{ ref('int_unlanded_table') }}

)

select
    -- identity
    source,
    'partition' as kind,

    -- payload
    to_json(
        struct(topic, partition, has_changes, reached_place, has_window_reads, is_of_signals),
        map('ignoreNullFields', 'false')
    ) as mark
from judged_partition
union all
select
    source,
    'range' as kind,
    to_json(struct(topic, partition, first_offset, last_offset, is_of_markers)) as mark
from landed_range
union all
select
    source,
    'window' as kind,
    to_json(struct(previous_position), map('ignoreNullFields', 'false')) as mark
from incremental_window
union all
select
    source,
    'unlanded_table' as kind,
    to_json(struct(data_collection, last_position)) as mark
from unlanded_table
