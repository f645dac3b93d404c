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

-- Reads that tell no place beside others that do, or a table that has a schema in some messages
-- only, have lost a field.
torn_source as (

    select source
    from {{ ref('int_pending_read') }}
    group by source
    having
        count_if(rlike(event_position, '(^|: )[0:/]+$')) > 0
        and count_if(not rlike(event_position, '(^|: )[0:/]+$')) > 0
    union
    select source
    from {{ ref('stg_change_event') }}
    where connector = 'generic' and not is_already_published
    group by source, topic, table_name
    having
        count_if(schema_name = database_name) > 0 and count_if(schema_name != database_name) > 0

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

),

table_mark as (

    select
        snapshot.source,
        snapshot.snapshot_position,
        read_table.data_collection,
        read_table.read_count,
        read_table.read_markers,
        snapshot.is_blocking,
        torn_source.source is not null as is_torn
    from snapshot
    inner join read_table
        on
            snapshot.source = read_table.source
            and snapshot.place = read_table.place
    left join torn_source
        on snapshot.source = torn_source.source

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
        struct(
            snapshot_position, data_collection, read_count, read_markers, is_blocking, is_torn
        )
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
