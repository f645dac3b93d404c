with

suspect as (

    select
        source,
        transaction_id,
        least_event_count,
        least_expected_count
    from {{ ref('int_transaction_count') }}
    where has_end and not is_short and (is_long or not has_one_order)

),

table_count as (

    select * from {{ ref('int_table_count') }}

),

-- Every event once, with the places that its copies carry.
event as (

    select
        event.source,
        event.transaction_id,
        event.data_collection,
        event.event_position,
        event.event_hash,
        min(event.total_order) as first_total_order,
        collect_set(event.total_order) as total_orders,
        collect_set(event.data_collection_order) as table_orders,
        bool_and(event.has_content_of_first_copy) as has_one_content
    from {{ ref('stg_change_event') }} as event
    left semi join suspect
        on event.source = suspect.source and event.transaction_id = suspect.transaction_id
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

-- Where it stands, and how many places the counters fell back by when they began again.
ranked_event as (

    select
        event.*,
        row_number() over (
            partition by event.source, event.transaction_id
            order by event.event_position, event.first_total_order
        ) as place,
        count(*) over (partition by event.source, event.transaction_id)
        - suspect.least_event_count as lost_places,
        row_number() over (
            partition by event.source, event.transaction_id, event.data_collection
            order by event.event_position, event.first_total_order
        ) as table_place,
        count(*) over (partition by event.source, event.transaction_id, event.data_collection)
        - table_count.least_expected_count as lost_table_places,
        suspect.least_event_count = suspect.least_expected_count as has_every_table
    from event
    inner join suspect
        on event.source = suspect.source and event.transaction_id = suspect.transaction_id
    inner join table_count
        on
            event.source = table_count.source
            and event.transaction_id = table_count.transaction_id
            and event.data_collection = table_count.data_collection

)

select
    -- identity
    source,
    transaction_id,

    -- proof
    -- Without positions nothing says which of two events came first.
    bool_and(
        event_position is not null
        and has_one_content
        and has_every_table
        and lost_places > 0
        and forall(total_orders, number -> number in (place, place - lost_places))
        and array_contains(
            total_orders, case when place <= lost_places then place else place - lost_places end
        )
    )
    and bool_or(
        array_contains(total_orders, place) and array_contains(total_orders, place - lost_places)
    ) as has_overlap,
    bool_and(
        event_position is not null
        and has_one_content
        and lost_table_places >= 0
        and forall(table_orders, number -> number in (table_place, table_place - lost_table_places))
        and array_contains(
            table_orders,
            case
                when table_place <= lost_table_places then table_place
                else table_place - lost_table_places
            end
        )
    ) as has_every_place
from ranked_event
group by source, transaction_id
