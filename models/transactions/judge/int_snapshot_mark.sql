with

-- Where END is the order, the place of a snapshot in the chain is not that of its reads.
snapshot as (

    select
        source,
        position,
        snapshot_position as place,
        is_blocking,
        has_place as has_signal,
        unix_micros(committed_at) as committed_at,
        case when is_blocking then snapshot_position else position end as snapshot_position
    from {{ ref('int_placed_snapshot') }}

),

read_table as (

    select
        source,
        event_position as place,
        data_collection,
        count_if(copy_number = 1) as read_count,
        array_sort(collect_set(nullif(snapshot, 'true'))) as read_markers
    from {{ ref('int_pending_read') }}
    group by source, event_position, data_collection

)

select
    -- identity
    snapshot.source,
    'snapshot_table' as kind,

    -- order
    cast(null as string) as position,
    cast(null as int) as link_order,
    cast(null as string) as link_name,

    -- payload
    to_json(
        struct(
            snapshot.snapshot_position,
            read_table.data_collection,
            read_table.read_count,
            read_table.read_markers,
            snapshot.is_blocking,
            torn_source.source is not null as is_torn
        )
    ) as mark
from snapshot
inner join read_table
    on
        snapshot.source = read_table.source
        and snapshot.place = read_table.place
left join {{ ref('int_torn_source') }} as torn_source
    on snapshot.source = torn_source.source
union all
select
    snapshot.source,
    'snapshot_partition' as kind,
    null as position,
    null as link_order,
    null as link_name,
    to_json(
        struct(
            snapshot.snapshot_position,
            partition.topic,
            partition.partition,
            partition.first_read_offset,
            partition.last_read_offset,
            partition.older_offset,
            partition.newer_offset,
            partition.first_offset,
            quiet.source is not null as is_quiet
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from snapshot
inner join {{ ref('int_read_partition') }} as partition
    on
        snapshot.source = partition.source
        and snapshot.place = partition.snapshot_position
left join {{ ref('int_quiet_partition') }} as quiet
    on
        partition.source = quiet.source
        and partition.snapshot_position = quiet.snapshot_position
        and partition.topic = quiet.topic
        and partition.partition = quiet.partition
union all
select
    source,
    'snapshot' as kind,
    position,
    2 as link_order,
    '' as link_name,
    to_json(struct(position, place)) as mark
from snapshot
where not is_blocking
union all
select
    source,
    'blocking_snapshot' as kind,
    position,
    3 as link_order,
    snapshot_position as link_name,
    to_json(
        struct(position, snapshot_position, committed_at, has_signal),
        map('ignoreNullFields', 'false')
    ) as mark
from snapshot
where is_blocking
