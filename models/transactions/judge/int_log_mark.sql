with

log_range as (

    select
        source,
        log,
        cast(min(log_number) as bigint) as first_number,
        cast(max(log_number) as bigint) as last_number
    from {{ ref('int_log_island') }}
    group by source, log, island

),

-- A message outside of transactions is what the next transaction names as the one before it.
logical_message as (

    select
        source,
        event_position as position,
        max(previous_commit_position) as previous_position,
        unix_micros(max(committed_at)) as committed_at
    from {{ ref('stg_message') }}
    where
        kind = 'logical_message'
        and transaction_id is null
        and event_position is not null
        and not is_already_published
    group by source, event_position

)

select
    -- identity
    source,
    'log_range' as kind,

    -- order
    cast(null as string) as position,
    cast(null as int) as link_order,

    -- payload
    to_json(struct(log, first_number, last_number)) as mark
from log_range
union all
select
    source,
    'message' as kind,
    position,
    -- Where a commit ends the next record can begin.
    case when previous_position is null then 4 else 1 end as link_order,
    to_json(
        struct(position, previous_position, committed_at), map('ignoreNullFields', 'false')
    ) as mark
from logical_message
