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
    link_position,
    end_markers,
    log_positions,
    snapshot_position,
    first_transaction_ids,

    -- provenance
    transaction_id,
    committed_at,
    proof,
    decisions,

    -- how far its changes reach
    coalesce(log_positions['place'], link_position) as event_position
from candidate
