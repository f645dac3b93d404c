with

outcome as (

    select * from {{ ref('int_outcome') }}
    where outcome = 'quarantined'

)

select
    -- identity
    outcome.landing_id,
    outcome.topic,
    outcome.partition,
    outcome.`offset`,

    -- where it comes from
    outcome.source,
    outcome.transaction_id,

    -- payload
    outcome.quarantine_reason,
    outcome.quarantine_detail,

    -- provenance
    {{ candidate('cut_id') }}L as cut_id
from outcome
