with

declared as (

    select
        source,
        sentence,
        case
            when
                decision = 'new_epoch'
                and rlike(transaction_id, '^messages since [-0-9]{10} [:0-9]{8}$')
                then try_cast(substr(transaction_id, 16) as timestamp)
        end as starts_at,
        concat(
            'operator_decision: ', transaction_id, ' of ', source, ': begins no epoch; ',
            'write messages since and a time in UTC, such as 2026-11-21 09:30:00, and new_epoch'
        ) as refusal
    from {{ ref('int_operator_decision') }}
    where startswith(transaction_id, 'messages ')

),

known_start as (

    select
        source,
        sentence,
        coalesce(starts_at, raise_error(refusal)) as starts_at
    from declared

)

select
    -- identity
    source,

    -- when
    starts_at,

    -- provenance
    sentence as decision_sentence,

    -- position
    concat('since ', date_format(starts_at, 'yyyy-MM-dd HH:mm:ss'), ': ') as position_prefix,
    lead(starts_at) over (
        partition by source
        order by starts_at
    ) as ends_at
from known_start
