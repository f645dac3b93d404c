with

verdict as (

    select * from {{ ref('int_verdict') }}
    where verdict in ('commit', 'discarded', 'passed')

),

starting_commit as (

    select
        *,
        -- Nothing follows the snapshot yet.
        coalesce(link_position = snapshot_position, false) as is_at_snapshot
    from {{ ref('int_starting_commit') }}

),

preceded_link as (

    select
        *,
        last_value(case when link_kind != 'blocking_snapshot' then link_kind end, true) over (
            partition by source
            order by link_number
            rows between unbounded preceding and 1 preceding
        ) as preceding_kind,
        last_value(case when link_kind != 'blocking_snapshot' then position end, true) over (
            partition by source
            order by link_number
            rows between unbounded preceding and 1 preceding
        ) as preceding_position
    from verdict

),

-- An epoch opens a new stream, and so does what follows a snapshot.
followed_link as (

    select
        link.*,
        case
            when link.preceding_kind = 'initial_snapshot' then null
            when
                {{ epoch_of('link.position') }} != coalesce(
                    {{ epoch_of('link.preceding_position') }},
                    {{ epoch_of('starting_commit.link_position') }}
                )
                then null
            when link.preceding_position is not null then link.preceding_position
            when not starting_commit.is_at_snapshot then starting_commit.link_position
        end as followed_position
    from preceded_link as link
    left join starting_commit
        on link.source = starting_commit.source

)

select
    -- identity
    link.source,
    link.link_number,
    link.link_kind,
    link.commit_number,

    -- position
    link.position,
    link.transaction_id,
    link.read_position as snapshot_position,
    landed.log_position,
    landed.last_event_position,
    landed.end_markers,
    coalesce(landed.previous_commit_position, link.followed_position) as predecessor_position,
    link.followed_position is null as is_first_of_stream,
    coalesce(landed.committed_at, snapshot.committed_at) as committed_at,
    coalesce(landed.has_reset_counters, false) as has_reset_counters,

    -- proof
    link.verdict = 'commit' as is_commit,
    coalesce(link.proof, 'counted') as proof,
    coalesce(landed.decision_sentence, decided.sentence) as decision_sentence
from followed_link as link
left join {{ ref('int_transaction') }} as landed
    on link.source = landed.source and link.transaction_id = landed.transaction_id
left join {{ ref('int_placed_snapshot') }} as snapshot
    on link.source = snapshot.source and link.read_position = snapshot.snapshot_position
left join {{ ref('int_operator_decision') }} as decided
    on
        link.source = decided.source
        and {{ snapshot_id('link.read_position') }} = decided.transaction_id
