with

link as (

    select * from {{ ref('int_chain_link') }}

),

-- A complete snapshot replaces all that lies before it, held or not (S5); a discarded one nothing.
base as (

    select
        source,
        max(position) as base_position
    from link
    where
        link_kind = 'initial_snapshot'
        and held_reason is null
        and coalesce(decision != 'discard', true)
    group by source

),

based_link as (

    select
        link.*,
        base.base_position is null
        or link.position > base.base_position
        or (link.position = base.base_position and link.link_kind = 'initial_snapshot')
            as is_after_base
    from link
    left join base
        on link.source = base.source

),

judged_link as (

    select
        *,
        -- One link that is held holds all that follow it.
        bool_or(held_reason is not null) over (
            partition by source, is_after_base
            order by position, link_order
        ) as is_held,
        -- A blocking snapshot read its rows later than where it stands: until the source has
        -- committed past that moment, no state of the stream is one that the source had (S7).
        -- The cut never stands between it and the transaction that signals it.
        coalesce(
            link_kind != 'initial_snapshot'
            and committed_at <= max(
                case when link_kind = 'blocking_snapshot' then committed_at end
            ) over (
                partition by source
                order by position
                range between unbounded preceding and current row
            ),
            false
        )
        or bool_or(link_kind = 'blocking_snapshot') over (partition by source, position) as is_fuzzy
    from based_link

),

reached_link as (

    select
        *,
        max(
            case when not is_held and not is_fuzzy then struct(position, link_order) end
        ) over (partition by source) as last_link
    from judged_link

)

select
    -- identity
    source,
    link_kind,
    position,
    link_order,

    -- position
    transaction_id,
    snapshot_position,
    predecessor_position,
    is_first_of_stream,
    log_position,
    last_event_position,
    end_markers,
    committed_at,
    has_reset_counters,

    -- proof
    proof,
    decision_sentence,
    -- A BEGIN alone of which nothing landed is DDL (MariaDB).
    link_kind != 'logical_message'
    and coalesce(decision != 'discard', true)
    and (
        link_kind != 'transaction'
        or end_markers is not null
        or last_event_position is not null
        or decision is not null
    ) as is_commit
from reached_link
where not is_held and struct(position, link_order) <= last_link
