with

marker as (

    select
        *,
        max(`offset`) over (
            partition by topic, partition
            order by `offset`
            range between 1 following and 1 following
        ) is not null as has_next_marker
    from {{ ref('stg_transaction_marker') }}

),

marked_transaction as (

    select
        source,
        transaction_id,
        -- The first END, when a restart brought it again.
        min(commit_position) as commit_position,
        max(connector) as connector,
        max(log_position) as log_position,
        min(committed_at) as committed_at,
        bool_or(marker = 'END') as has_end,
        bool_and(
            event_count = coalesce(
                aggregate(map_values(collection_counts), 0L, (total, one) -> total + one), 0L
            )
        ) filter (where marker = 'END') as has_true_sum,
        max(event_count) as event_count,
        min(begin_position) as begin_position,
        min_by(has_next_marker, begin_position) as has_next_marker,
        min(coalesce(begin_position, commit_position)) as first_position,
        max(partition) as last_partition
    from marker
    group by source, transaction_id

)

select
    -- identity
    source,
    transaction_id,

    -- position
    commit_position,
    begin_position,
    log_position,

    -- what they say
    connector,
    committed_at,
    event_count,
    has_true_sum,

    -- proof
    has_end,
    has_next_marker,
    -- MariaDB's connector sends BEGIN and no END for DDL, TRUNCATE and the halves of an XA
    -- transaction. No END will come once another transaction has begun, because it would stand
    -- before that in the one partition. A transaction that a restart sends again had begun before.
    not has_end
    and max(last_partition) over (partition by source) = 0
    and coalesce(
        begin_position < max(first_position) over (partition by source), false
    ) as is_begin_alone
from marked_transaction
