with

candidate as (

    select inline(cut.source_cuts)
    from {{ source('pointer', 'cut') }} as cut
    where cut.channel = 'candidate'

)

select
    -- identity
    source,

    -- position
    commit_number,
    commit_position,
    snapshot_position,

    -- provenance
    transaction_id,
    committed_at,
    proof,
    decisions
from candidate
