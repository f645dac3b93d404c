select
    -- identity
    source,
    commit_number,

    -- position
    predecessor_position,
    log_position,
    snapshot_position,

    -- provenance
    link_kind,
    transaction_id,
    committed_at,
    has_reset_counters,
    proof,
    decision_sentence,
    {{ candidate('cut_id') }}L as cut_id,

    -- where the source committed
    case when link_kind = 'transaction' then position end as commit_position
from {{ ref('int_proven_link') }}
where is_commit
