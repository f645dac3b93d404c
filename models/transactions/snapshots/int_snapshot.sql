{%- if not run_has('read') -%}
{{ no_rows({
    'source': 'string', 'snapshot_position': 'string', 'read_count': 'bigint',
    'read_tables':
        'array<struct<data_collection: string, read_count: bigint, has_last_of_table: boolean, topics: array<string>>>',
    'is_read_twice': 'boolean', 'unlanded_tables': 'array<string>',
}) }}
{%- else -%}
with

read_table as (

    select
        source,
        event_position as snapshot_position,
        data_collection,
        bool_or({{ ordered_by_end('connector') }}) as is_ordered_by_end,
        count_if(copy_number = 1) as read_count,
        collect_set(topic) as topics,
        -- A snapshot's first table marks its only row as first, others as last (Debezium 3.6.3).
        bool_or(snapshot in ('last_in_data_collection', 'last'))
        or (bool_or(snapshot = 'first') and count_if(copy_number = 1) = 1) as has_last_of_table,
        -- Every other marker comes once.
        count_if(snapshot != 'true' and not is_repeated_delivery)
        > size(collect_set(nullif(snapshot, 'true'))) as is_read_twice
    from {{ ref('int_pending_read') }}
    group by source, event_position, data_collection

),

snapshot as (

    select
        source,
        snapshot_position,
        bool_or(is_ordered_by_end) as is_ordered_by_end,
        sum(read_count) as read_count,
        collect_list(
            named_struct(
                'data_collection', data_collection,
                'read_count', read_count,
                'has_last_of_table', has_last_of_table,
                'topics', topics
            )
        ) as read_tables,
        bool_or(is_read_twice) as is_read_twice
    from read_table
    group by source, snapshot_position

),

-- Nothing tells where END stands to the snapshot of a connector whose END is the order.
awaiting_snapshot as (

    select
        snapshot.source,
        snapshot.snapshot_position,
        collect_set(unlanded.data_collection) as unlanded_tables
    from snapshot
    inner join {{ ref('int_unlanded_table') }} as unlanded
        on
            snapshot.source = unlanded.source
            and (
                snapshot.is_ordered_by_end
                or coalesce(snapshot.snapshot_position < unlanded.last_commit_position, true)
            )
    group by snapshot.source, snapshot.snapshot_position

)

select
    -- identity
    snapshot.source,
    snapshot.snapshot_position,

    -- counts
    snapshot.read_count,
    snapshot.read_tables,

    -- what it is
    -- It was interrupted, and begun again before the source had committed anything.
    snapshot.is_read_twice,

    -- Behind a blocking snapshot, which is of some tables only, others may begin.
    case
        when blocking.source is null then awaiting_snapshot.unlanded_tables
    end as unlanded_tables
from snapshot
left join {{ ref('int_blocking_snapshot') }} as blocking
    on
        snapshot.source = blocking.source
        and snapshot.snapshot_position = blocking.snapshot_position
left join awaiting_snapshot
    on
        snapshot.source = awaiting_snapshot.source
        and snapshot.snapshot_position = awaiting_snapshot.snapshot_position
{%- endif %}
