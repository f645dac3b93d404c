select
    -- identity
    proven.source,
    proven.commit_number,

    -- position
    proven.read_position as snapshot_position,
    -- where the source committed
    case when proven.link_kind = 'transaction' then proven.position end as commit_position,

    -- provenance
    proven.link_kind,
    proven.transaction_id,
    proven.committed_at,
    proven.has_reset_counters,
    proven.proof,
    {{ 'decided.sentence' if run_has('decision') else 'cast(null as string)' }}
        as decision_sentence,
    {{ candidate('cut_id') }}L as cut_id
from {{ ref('proof') }} as proven
{% if run_has('decision') -%}
left join {{ ref('int_operator_decision') }} as decided
    on
        proven.source = decided.source
        and coalesce(proven.transaction_id, {{ snapshot_id('proven.read_position') }})
        = decided.transaction_id
{% endif -%}
where
    proven.cut_id = {{ candidate('cut_id') }}
    and proven.kind = 'unit'
    and proven.verdict = 'commit'
    -- Reads of a window and members of a group are published with it.
    and (
        proven.unit_kind = 'snapshot'
        or (proven.unit_kind = 'transaction' and proven.unit_id = proven.transaction_id)
    )
