with

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

proven_commit as (

    select * from {{ ref('int_proven_link') }}
    where is_commit

),

numbered_commit as (

    select
        proven_commit.*,
        coalesce(starting_commit.commit_number, 0) + row_number() over (
            partition by proven_commit.source
            order by proven_commit.position, proven_commit.link_order
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
    numbered_commit.predecessor_position,
    numbered_commit.log_position,
    numbered_commit.snapshot_position,

    -- provenance
    numbered_commit.link_kind,
    numbered_commit.transaction_id,
    numbered_commit.committed_at,
    numbered_commit.has_reset_counters,
    numbered_commit.proof,
    numbered_commit.decision_sentence,
    {{ candidate('cut_id') }}L as cut_id,

    -- where the source committed
    case
        when numbered_commit.link_kind = 'transaction' then numbered_commit.position
    end as commit_position
from numbered_commit
