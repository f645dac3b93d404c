select
    -- delivery
    message.landing_id,
    message.topic,
    message.partition,
    message.`offset`,

    -- where it comes from
    message.source,
    message.transaction_id,

    -- payload
    case
        when message.kind = 'quarantined' then message.quarantine_reason
        else 'discarded'
    end as quarantine_reason,
    message.quarantine_detail,

    -- provenance
    {{ candidate('cut_id') }}L as cut_id
from {{ ref('int_message') }} as message
left join {{ ref('proof') }} as unit
    on
        message.source = unit.source
        and message.unit_kind = unit.unit_kind
        and message.unit_id = unit.unit_id
        and unit.kind = 'unit'
        and unit.verdict = 'discarded'
        and unit.cut_id = {{ candidate('cut_id') }}
-- What could not be judged is held, whether it can be read or not.
left anti join {{ ref('proof') }} as refused
    on
        message.source = refused.source
        and refused.kind = 'refusal'
        and refused.cut_id = {{ candidate('cut_id') }}
where
    {{ comes_from('quarantined', 'decision') }}
    and not message.is_repeated_delivery
    and not message.is_unplaced
    and (
        message.kind = 'quarantined'
        or (message.kind = 'change' and message.copy_number = 1 and unit.source is not null)
    )
