with

-- A keyless read is known by its delivery alone, so a copy of it cannot be told.
late_event as (

    select * from {{ ref('stg_change_event') }}
    where is_already_published and (row_key is not null or snapshot is null)

),

-- Through the cut of its commit, so that only the partitions of late events are read.
placed_event as (

    select
        late_event.source,
        late_event.topic,
        late_event.partition,
        late_event.`offset`,
        late_event.transaction_id,
        late_event.event_hash,
        published.cut_id
    from late_event
    left join {{ ref('commit') }} as published
        on
            late_event.source = published.source
            and late_event.transaction_id <=> published.transaction_id

)

select
    placed_event.source,
    placed_event.topic,
    placed_event.partition,
    placed_event.`offset`,
    placed_event.transaction_id
from placed_event
left join {{ ref('int_change') }} as published_change
    on
        placed_event.cut_id = published_change.cut_id
        and placed_event.source = published_change.source
        and placed_event.transaction_id <=> published_change.transaction_id
        and placed_event.event_hash = published_change.event_hash
group by
    placed_event.source,
    placed_event.topic,
    placed_event.partition,
    placed_event.`offset`,
    placed_event.transaction_id
having count(published_change.event_hash) = 0
