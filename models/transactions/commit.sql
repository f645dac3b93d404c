with

candidate as (

    select * from {{ source('pointer', 'cut') }}
    where channel = 'candidate'

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

snapshot as (

    select * from {{ ref('int_snapshot') }}

),

ended_transaction as (

    select
        link.*,
        -- One transaction that is held holds all that follow it.
        bool_or(link.held_reason is not null)
            over (partition by link.source order by link.commit_position) as is_held
    from {{ ref('int_transaction_link') }} as link

),

proven_commit as (

    select
        source,
        cast(null as string) as commit_position,
        cast(null as string) as transaction_id,
        committed_at,
        cast(null as bigint) as marker_offset,
        snapshot_position
    from snapshot
    where incomplete_reason is null
    union all
    select
        ended_transaction.source,
        ended_transaction.commit_position,
        ended_transaction.transaction_id,
        ended_transaction.committed_at,
        ended_transaction.marker_offset,
        cast(null as string) as snapshot_position
    from ended_transaction
    left join snapshot
        on ended_transaction.source = snapshot.source
    where not ended_transaction.is_held and snapshot.incomplete_reason is null

),

numbered_commit as (

    select
        proven_commit.*,
        coalesce(starting_commit.commit_number, 0) + row_number() over (
            partition by proven_commit.source
            order by proven_commit.commit_position asc nulls first
        ) as commit_number
    from proven_commit
    left join starting_commit
        on proven_commit.source = starting_commit.source

)

select
    -- identity
    numbered_commit.source,
    numbered_commit.commit_number,

    -- position
    numbered_commit.commit_position,
    numbered_commit.marker_offset,
    numbered_commit.snapshot_position,

    -- provenance
    numbered_commit.transaction_id,
    numbered_commit.committed_at,
    'counted' as proof,
    candidate.cut_id
from numbered_commit
cross join candidate
