with

latest_decision as (

    select
        source,
        transaction_id,
        max(struct(decided_on, decision, decided_by, reason)) as latest
    from {{ ref('operator_decision') }}
    group by source, transaction_id

)

select
    -- identity
    latest_decision.source,
    latest_decision.transaction_id,

    -- what was decided
    latest_decision.latest.decision,
    concat_ws(
        ' ',
        concat('transaction ', latest_decision.transaction_id, ':'),
        latest_decision.latest.decision,
        'by',
        latest_decision.latest.decided_by,
        'on',
        cast(latest_decision.latest.decided_on as string),
        concat('(', latest_decision.latest.reason, ')')
    ) as sentence
from latest_decision
