with

-- A transaction is settled when the cut has passed it, or when a later snapshot replaced it (S5).
passed_transaction as (

    select
        pending.source,
        pending.transaction_id,
        coalesce(pending.decision = 'discard', false) as is_discarded
    from {{ ref('int_transaction') }} as pending
    inner join {{ ref('int_cut') }} as int_cut
        on pending.source = int_cut.source
    where
        pending.commit_position <= int_cut.link_position
        or pending.previous_commit_position < int_cut.snapshot_position
    union all
    select
        source,
        transaction_id,
        false as is_discarded
    from {{ ref('stg_message') }}
    where marker = 'END' and is_already_published
    union all
    -- An END that a restart sends again has a new offset, which does not show that it is published.
    select
        source,
        transaction_id,
        false as is_discarded
    from {{ ref('int_replayed_transaction') }}
    union all
    select
        marker.source,
        marker.transaction_id,
        false as is_discarded
    from {{ ref('stg_transaction_marker') }} as marker
    inner join {{ ref('int_cut') }} as int_cut
        on marker.source = int_cut.source
    -- The offsets of a recreated transaction topic start again.
    where
        marker.marker = 'END'
        and marker.log_position is null
        and not coalesce({{ ordered_by_end('marker.connector') }}, false)
        and marker.commit_position <= int_cut.link_position

)

select
    -- identity
    source,
    transaction_id,

    -- what was decided
    bool_or(is_discarded) as is_discarded
from passed_transaction
group by source, transaction_id
