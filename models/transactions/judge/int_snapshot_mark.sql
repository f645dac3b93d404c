with

-- Where END is the order, the place of a snapshot in the chain is not that of its reads.
snapshot as (

    select
        link.source,
        link.position,
        link.snapshot_position as place,
        link.link_kind = 'blocking_snapshot' as is_blocking,
        unix_micros(link.committed_at) as committed_at,
        link.position != link.snapshot_position or asked.followed_position is not null
            as has_signal,
        case
            when link.link_kind = 'blocking_snapshot' then link.snapshot_position
            else link.position
        end as snapshot_position
    from {{ ref('int_chain_link') }} as link
    left join {{ ref('int_blocking_snapshot') }} as asked
        on
            link.source = asked.source
            and link.snapshot_position = asked.snapshot_position
    where link.link_kind in ('initial_snapshot', 'blocking_snapshot')

),

read_table as (

    select
        source,
        event_position as place,
        data_collection,
        count_if(copy_number = 1) as read_count,
        array_sort(collect_list(case when copy_number = 1 then nullif(snapshot, 'true') end))
            as read_markers
    from {{ ref('int_pending_read') }}
    group by source, event_position, data_collection

),

table_mark as (

    select
        snapshot.source,
        snapshot.snapshot_position,
        read_table.data_collection,
        read_table.read_count,
        read_table.read_markers,
        snapshot.is_blocking
    from snapshot
    inner join read_table
        on
            snapshot.source = read_table.source
            and snapshot.place = read_table.place

),

partition_mark as (

    select
        snapshot.source,
        snapshot.snapshot_position,
        partition.topic,
        partition.partition,
        partition.first_read_offset,
        partition.last_read_offset,
        partition.older_offset,
        partition.newer_offset,
        partition.first_offset
    from snapshot
    inner join {{ ref('int_read_partition') }} as partition
        on
            snapshot.source = partition.source
            and snapshot.place = partition.snapshot_position

)

select
    -- identity
    source,
    'snapshot_table' as kind,

    -- order
    cast(null as string) as position,
    cast(null as int) as link_order,
    cast(null as string) as link_name,

    -- payload
    to_json(
        struct(snapshot_position, data_collection, read_count, read_markers, is_blocking)
    ) as mark
from table_mark
union all
select
    source,
    'snapshot_partition' as kind,
    null as position,
    null as link_order,
    null as link_name,
    to_json(
        struct(
            snapshot_position,
            topic,
            partition,
            first_read_offset,
            last_read_offset,
            older_offset,
            newer_offset,
            first_offset
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from partition_mark
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
