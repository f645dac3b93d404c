with

read_table as (

    select
        source,
        event_position as snapshot_position,
        data_collection,
        bool_or({{ ordered_by_end('connector') }}) as is_ordered_by_end,
        max(committed_at) as committed_at,
        count_if(copy_number = 1) as read_count,
        collect_set(topic) as topics,
        -- A snapshot's first table marks its only row as first, others as last (Debezium 3.6.3).
        bool_or(snapshot in ('last_in_data_collection', 'last'))
        or (bool_or(snapshot = 'first') and count_if(copy_number = 1) = 1) as has_last_of_table,
        bool_or(snapshot = 'last') as has_last,
        -- A table of one row may have the last marker only.
        bool_or(snapshot = 'first') or count_if(copy_number = 1) = 1 as may_be_first,
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
        max(committed_at) as committed_at,
        sum(read_count) as read_count,
        collect_list(
            named_struct(
                'data_collection', data_collection,
                'read_count', read_count,
                'has_last_of_table', has_last_of_table,
                'topics', topics
            )
        ) as read_tables,
        bool_and(has_last_of_table) and bool_or(has_last) as has_every_marker,
        bool_or(may_be_first) as may_be_first,
        bool_or(is_read_twice) as is_read_twice
    from read_table
    group by source, snapshot_position

),

-- Reads of one snapshot that tell different places, or a table that has a schema in some messages
-- only, have lost a field: no snapshot of theirs is whole.
torn_source as (

    select source
    from snapshot
    group by source
    having
        count_if(rlike(snapshot_position, '(^|: )[0:/]+$')) > 0
        and count_if(not rlike(snapshot_position, '(^|: )[0:/]+$')) > 0
    union
    select source
    from {{ ref('stg_change_event') }}
    where connector = 'generic' and not is_already_published
    group by source, topic, table_name
    having
        count_if(schema_name = database_name) > 0 and count_if(schema_name != database_name) > 0

),

read_topic as (

    select
        source,
        snapshot_position,
        topic,
        max(partition) + 1 = count(*) or not bool_or(has_reads) as has_every_partition,
        bool_and(has_no_gap) as has_no_gap,
        bool_and(has_later_message) as has_later_message
    from {{ ref('int_snapshot_partition') }}
    group by source, snapshot_position, topic

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

),

proven_topic as (

    select
        source,
        snapshot_position,
        bool_and(
            has_no_gap and (has_every_partition or {{ var('landing_reaches_the_end') }})
        ) as has_no_gap,
        collect_set(
            case
                when
                    not has_no_gap
                    or not (has_every_partition or {{ var('landing_reaches_the_end') }})
                    then topic
            end
        ) as lacking_topics,
        bool_and(has_later_message) as has_later_message
    from read_topic
    group by source, snapshot_position

)

select
    -- identity
    snapshot.source,
    snapshot.snapshot_position,

    -- position
    blocking.previous_commit_position,
    blocking.first_transaction_id,
    blocking.followed_position,
    snapshot.is_ordered_by_end,
    snapshot.committed_at,

    -- counts
    snapshot.read_count,
    -- Tables that may lack reads, and those of which nothing has landed.
    concat(
        transform(
            filter(
                snapshot.read_tables,
                one -> not one.has_last_of_table
                or coalesce(arrays_overlap(one.topics, proven_topic.lacking_topics), false)
            ),
            one -> named_struct(
                'data_collection', one.data_collection,
                'expected_count', cast(null as bigint),
                'received_count', one.read_count
            )
        ),
        transform(
            coalesce(
                case when blocking.source is null then awaiting_snapshot.unlanded_tables end,
                array()
            ),
            one -> named_struct(
                'data_collection', one,
                'expected_count', cast(null as bigint),
                'received_count', 0L
            )
        )
    ) as lacking_tables,

    -- what it is
    blocking.source is not null as is_blocking,

    -- It was interrupted, and begun again before the source had committed anything.
    snapshot.is_read_twice,

    -- proof
    case
        -- Topics may belong to another source that sends to them too: then nothing is proved.
        when
            not snapshot.has_every_marker
            or not coalesce(proven_topic.has_no_gap, false)
            or torn_source.source is not null
            then 'missing_reads'
        -- The first table may be empty, or several were read at once: then no read is the first.
        -- In a blocking snapshot no other topic waits for the first table.
        when
            not snapshot.may_be_first
            and blocking.source is not null
            and not {{ var('landing_reaches_the_end') }}
            then 'missing_reads'
        when
            awaiting_snapshot.source is not null
            and blocking.source is null
            and not {{ var('landing_reaches_the_end') }}
            then 'missing_reads'
        when not proven_topic.has_later_message and not {{ var('landing_reaches_the_end') }}
            then 'unproven_reads'
    end as incomplete_reason
from snapshot
left join proven_topic
    on
        snapshot.source = proven_topic.source
        and snapshot.snapshot_position = proven_topic.snapshot_position
left join {{ ref('int_blocking_snapshot') }} as blocking
    on
        snapshot.source = blocking.source
        and snapshot.snapshot_position = blocking.snapshot_position
left join torn_source
    on snapshot.source = torn_source.source
left join awaiting_snapshot
    on
        snapshot.source = awaiting_snapshot.source
        and snapshot.snapshot_position = awaiting_snapshot.snapshot_position
{%- if not has_pending_reads() %}
-- No read waits: this plan of forty exchanges would find nothing.
where false
{%- endif %}
