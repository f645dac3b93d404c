with

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

marker_island as (

    select * from {{ ref('int_marker_island') }}

),

-- Spark 4.1 loses a named window in a view, so the window stands here twice.
ended_transaction as (

    select
        *,
        lag(commit_position) over (
            partition by source order by commit_position
        ) as predecessor_position,
        lag(marker_offset) over (partition by source order by commit_position) as predecessor_offset
    from {{ ref('int_transaction') }}
    where commit_position is not null and marker_offset is not null

),

preceded_transaction as (

    select
        ended_transaction.source,
        ended_transaction.transaction_id,
        ended_transaction.commit_position,
        ended_transaction.previous_commit_position,
        ended_transaction.marker_offset,
        ended_transaction.received_count,
        ended_transaction.committed_at,
        ended_transaction.incomplete_reason,
        coalesce(
            ended_transaction.predecessor_position, starting_commit.commit_position
        ) as predecessor_position,
        coalesce(
            ended_transaction.predecessor_offset, starting_commit.marker_offset
        ) as predecessor_offset
    from ended_transaction
    left join starting_commit
        on ended_transaction.source = starting_commit.source

),

linked_transaction as (

    select
        preceded.*,
        case
            when preceded.previous_commit_position is not null
                then preceded.previous_commit_position = preceded.predecessor_position
            -- Events that name no predecessor open a stream. Without events the markers must be
            -- contiguous.
            when preceded.received_count > 0
                then preceded.predecessor_position is null
            when preceded.predecessor_position is null
                then marker_island.island = -1
            else marker_island.island = predecessor_island.island
        end as is_linked
    from preceded_transaction as preceded
    left join marker_island
        on
            preceded.source = marker_island.source
            and preceded.marker_offset = marker_island.`offset`
    left join marker_island as predecessor_island
        on
            preceded.source = predecessor_island.source
            and preceded.predecessor_offset = predecessor_island.`offset`

)

select
    -- identity
    source,
    transaction_id,

    -- position
    commit_position,
    marker_offset,
    committed_at,

    -- proof
    case
        when incomplete_reason is not null then incomplete_reason
        when not coalesce(is_linked, false) then 'missing_predecessor'
    end as held_reason
from linked_transaction
