with

latest_decision as (

    select
        source,
        transaction_id,
        -- release and discard win over new_epoch of the same day.
        max(struct(decided_on, decision != 'new_epoch', decision, decided_by, reason)) as latest
    from {{ ref('operator_decision') }}
    -- accept is about flags and settings; it neither holds nor releases.
    where decision != 'accept'
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
        concat(
            case
                when latest_decision.transaction_id = 'snapshot'
                    then raise_error(concat(
                        'operator_decision: snapshot of ', latest_decision.source,
                        ': names no one snapshot; write snapshot and its position, as status has it'
                    ))
                else {{ shown_transaction('latest_decision.transaction_id') }}
            end,
            ':'
        ),
        latest_decision.latest.decision,
        'by',
        latest_decision.latest.decided_by,
        'on',
        cast(latest_decision.latest.decided_on as string),
        concat('(', latest_decision.latest.reason, ')')
    ) as sentence
from latest_decision
