with

-- Transactions that land again without anything that says where they stand: markers alone, or
-- changes without position.
unplaced_transaction as (

    select
        counted.source,
        counted.transaction_id,
        case
            when
                (counted.has_end and counted.connector != 'oracle')
                -- A BEGIN alone tells when the transaction began.
                or (counted.received_count > 0 and counted.connector = 'postgresql')
                then counted.committed_at
        end as committed_at
    from {{ ref('int_transaction_count') }} as counted
    where
        counted.log_position is null
        and counted.last_event_position is null
        and counted.change_position is null
        and case
            when counted.received_count = 0
                then
                    not counted.has_end
                    or {{ ordered_by_end('counted.connector') }}
                    or (counted.connector = 'postgresql' and counted.end_position is null)
            else {{ ordered_by_end('counted.connector') }} or counted.connector = 'postgresql'
        end

)

-- The changes tell by their place in the log.
select
    -- identity
    source,
    transaction_id
from {{ ref('stg_change_event') }}
where
    {{ run_has('late_change') }}
    and is_already_published
    and log_position is not null
    and transaction_id is not null
group by source, transaction_id
union distinct
-- BEGIN and END that come again without them tell nothing but their id; and END its time, where the
-- connector may give out the id again. Commits are read where there is one.
select /*+ broadcast(unplaced) */
    published.source,
    published.transaction_id
from {{ source('pointer', 'commit') }} as published
inner join unplaced_transaction as unplaced
    on
        published.source = unplaced.source
        and published.transaction_id = unplaced.transaction_id
        and published.committed_at = coalesce(unplaced.committed_at, published.committed_at)
where published.cut_id <= {{ candidate('starting_cut_id') }}
union distinct
-- An END of Debezium before 2.0 has no position (S2): one that changes nothing here has no place,
-- and nothing waits for it.
select
    source,
    transaction_id
from {{ ref('int_transaction_count') }}
where
    connector = 'postgresql'
    and has_end
    and end_position is null
    and received_count = 0
    and not is_short
