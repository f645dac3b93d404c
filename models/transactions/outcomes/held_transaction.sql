with

held as (

    select
        source,
        coalesce(transaction_id, {{ snapshot_id('read_position') }}) as transaction_id,
        position as commit_position,
        log_order,
        committed_at,
        event_count,
        miscounted_tables,
        held_reason
    from {{ ref('proof') }}
    where
        cut_id = {{ candidate('cut_id') }}
        and kind = 'unit'
        and verdict = 'hold'
        -- Reads of a window, members of a group and statements of DDL wait with a transaction.
        and (
            unit_kind = 'snapshot' or (unit_kind = 'transaction' and unit_id = transaction_id)
        )

),

refused_source as (

    select source from {{ ref('proof') }}
    where cut_id = {{ candidate('cut_id') }} and kind = 'refusal'

),

known_hold as (

    select * from held
    union all
    -- Where no transaction waits: changes that name none, and all of a source that was not judged.
    select
        waiting.source,
        case
            when refused.source is null then 'messages without transaction'
            else 'messages of the last run'
        end as transaction_id,
        null as commit_position,
        null as log_order,
        null as committed_at,
        count(*) as event_count,
        array() as miscounted_tables,
        case when refused.source is null then 'no_transaction' else 'not_judged' end as held_reason
    from {{ ref('held_message') }} as waiting
    left join refused_source as refused
        on waiting.source = refused.source
    left anti join held
        on waiting.source = held.source
    where
        waiting.cut_id = {{ candidate('cut_id') }}
        and (waiting.kind = 'change' or refused.source is not null)
    group by waiting.source, refused.source

)

select
    -- identity
    source,
    transaction_id,

    -- position
    commit_position,
    log_order,
    committed_at,

    -- why
    event_count,
    miscounted_tables,
    case
        when {{ matches_any('held_reason', var('refused_holds')) }}
            then raise_error(concat(
                {{ shown_transaction('transaction_id') }}, ' of ', source,
                ': is held as ', held_reason,
                ', which refused_holds names; see the runbook, or take it out of refused_holds'
            ))
        else held_reason
    end as held_reason
from known_hold
