with

lone_end as (

    select
        counted.source,
        counted.transaction_id,
        counted.connector,
        counted.committed_at
    from {{ ref('int_transaction_count') }} as counted
    where
        counted.received_count = 0
        and counted.has_end
        and counted.log_position is null
        and {{ ordered_by_end('counted.connector') }}

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
-- END that comes again without them tells nothing but its id, which only Oracle does not give out
-- again, and its time. Commits are read where there is one.
select /*+ broadcast(lone_end) */
    published.source,
    published.transaction_id
from {{ source('pointer', 'commit') }} as published
inner join lone_end
    on
        published.source = lone_end.source
        and published.transaction_id = lone_end.transaction_id
        and (lone_end.connector = 'oracle' or published.committed_at = lone_end.committed_at)
where published.cut_id <= {{ candidate('starting_cut_id') }}
