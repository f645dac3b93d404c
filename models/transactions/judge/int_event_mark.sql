with

-- Those that have all their changes, and whose counts or numbers do not fit END.
doubtful_transaction as (

    select
        judged.source,
        judged.transaction_id,
        judged.position
    from {{ ref('int_judged_transaction') }} as judged
    inner join {{ ref('int_transaction_count') }} as counted
        on
            judged.source = counted.source
            and judged.transaction_id = counted.transaction_id
    where
        judged.mark_kind = 'counted'
        and counted.has_end
        and not counted.is_short
        and (counted.is_long or not counted.has_one_order)

),

-- Every change once, with the numbers that its copies carry.
numbered_event as (

    select
        event.source,
        event.transaction_id,
        event.data_collection,
        event.event_position,
        event.event_hash,
        any_value(doubtful.position) as position,
        min(coalesce(event.total_order, 0)) as first_total_order,
        array_sort(collect_set(coalesce(event.total_order, 0))) as total_orders,
        array_sort(collect_set(coalesce(event.data_collection_order, 0))) as table_orders,
        bool_and(event.has_content_of_first_copy) as has_one_content
    from {{ ref('stg_change_event') }} as event
    inner join doubtful_transaction as doubtful
        on
            event.source = doubtful.source
            and event.transaction_id = doubtful.transaction_id
    where
        not event.is_already_published
        and not {{ matches_any('event.data_collection', var('not_ingested_tables')) }}
    group by
        event.source,
        event.transaction_id,
        event.data_collection,
        event.event_position,
        event.event_hash

),

event_mark as (

    select
        *,
        event_position is not null as has_place,
        row_number() over (
            partition by source, transaction_id
            order by event_position, first_total_order
        ) as event_order
    from numbered_event

)

select
    -- identity
    source,
    'event' as kind,

    -- order
    position,
    transaction_id,
    event_order,

    -- payload
    to_json(
        struct(
            position,
            transaction_id,
            data_collection,
            total_orders,
            table_orders,
            has_one_content,
            has_place
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from event_mark
