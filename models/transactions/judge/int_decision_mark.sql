with

judged_source as (

    select * from {{ ref('int_judged_source') }}

),

-- A decision may be about a source of which nothing has landed.
operator_decision as (

    select
        source,
        transaction_id,
        decision
    from {{ ref('int_operator_decision') }}
    where
        source in (select judged_source.source from judged_source)
        -- Others begin an epoch, which is in the positions.
        and not startswith(transaction_id, 'messages ')

),

snapshot as (

    select
        source,
        {{ snapshot_id('snapshot_position') }} as transaction_id,
        case when is_blocking then snapshot_position else position end as snapshot_position
    from {{ ref('int_placed_snapshot') }}

),

decision_mark as (

    select
        decided.source,
        decided.decision,
        snapshot.snapshot_position,
        case when snapshot.source is null then decided.transaction_id end as transaction_id
    from operator_decision as decided
    left join snapshot
        on
            decided.source = snapshot.source
            and decided.transaction_id = snapshot.transaction_id

),

-- A keyless table was to lose a row that it does not hold: an earlier run has failed on it (S12).
contradiction as (

    select
        source,
        transaction_id
    from {{ source('pointer', 'contradiction') }}
    where source in (select judged_source.source from judged_source)
    group by source, transaction_id

)

select
    -- identity
    source,
    'decision' as kind,

    -- payload
    to_json(
        struct(decision, transaction_id, snapshot_position), map('ignoreNullFields', 'false')
    ) as mark
from decision_mark
union all
select
    source,
    'missing_row' as kind,
    to_json(struct(transaction_id)) as mark
from contradiction
