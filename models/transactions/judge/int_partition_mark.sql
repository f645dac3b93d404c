with

judged_partition as (

    select * from {{ ref('int_judged_partition') }}

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
    'unlanded_table' as kind,
    to_json(struct(data_collection, last_position)) as mark
from unlanded_table
