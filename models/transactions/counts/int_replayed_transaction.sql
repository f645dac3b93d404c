with

lone_marker as (

    select
        counted.source,
        counted.transaction_id,
        case when counted.has_end and counted.connector != 'oracle' then counted.committed_at end
            as committed_at
    from {{ ref('int_transaction_count') }} as counted
    where
        counted.received_count = 0
        and counted.log_position is null
        and (not counted.has_end or {{ ordered_by_end('counted.connector') }})

)

-- The changes tell by their place in the log.
select
    -- identity
    source,
    transaction_id
from {{ ref('stg_change_event') }}
where is_already_published and log_position is not null and transaction_id is not null
group by source, transaction_id
union distinct
-- BEGIN and END that come again without them tell nothing but their id; and END its time, where the
-- connector may give out the id again. Commits are read where there is one.
select /*+ broadcast(lone_marker) */
    published.source,
    published.transaction_id
from {{ source('pointer', 'commit') }} as published
inner join lone_marker
    on
        published.source = lone_marker.source
        and published.transaction_id = lone_marker.transaction_id
        and published.committed_at = coalesce(lone_marker.committed_at, published.committed_at)
where published.cut_id <= {{ candidate('starting_cut_id') }}
