select
    -- identity
    source,
    unit_kind,
    unit_id,

    -- position
    position,

    -- provenance
    transaction_id,
    committed_at,
    {{ candidate('cut_id') }}L as cut_id
from {{ ref('proof') }}
where
    cut_id = {{ candidate('cut_id') }}
    and kind = 'unit'
    and is_settled_now
    and unit_kind in ('transaction', 'snapshot', 'window')
