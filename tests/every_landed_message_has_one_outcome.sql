with

counted_message as (

    select
        message.topic,
        message.partition,
        1 as arrived_count,
        0 as staged_count,
        0 as outcome_count
    from {{ source('landing', 'message') }} as message
    where
        message.landing_id > {{ candidate('starting_landing_id') }}
        and message.landing_id <= {{ candidate('landing_id') }}
    union all
    select
        held.topic,
        held.partition,
        1 as arrived_count,
        0 as staged_count,
        0 as outcome_count
    from {{ source('pointer', 'held_message') }} as held
    where held.cut_id = {{ candidate('starting_cut_id') }}
    union all
    select
        topic,
        partition,
        0 as arrived_count,
        1 as staged_count,
        0 as outcome_count
    from {{ ref('stg_message') }}
    union all
    -- What was settled before this run is counted in both cuts.
    select
        topic,
        partition,
        0 as arrived_count,
        0 as staged_count,
        case
            when cut_id = {{ candidate('cut_id') }} then message_count
            else -message_count
        end as outcome_count
    from {{ ref('message_count') }}
    where
        cut_id = {{ candidate('cut_id') }}
        or (cut_id = {{ candidate('starting_cut_id') }} and outcome != 'held')

)

select
    topic,
    partition,
    sum(arrived_count) as arrived_count,
    sum(staged_count) as staged_count,
    sum(outcome_count) as outcome_count
from counted_message
group by topic, partition
having
    sum(arrived_count) is distinct from sum(outcome_count)
    or sum(staged_count) is distinct from sum(outcome_count)
