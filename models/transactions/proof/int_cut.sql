{%- set is_decided = run_has('decision') -%}
with

-- What the cut rests on, also past what is no commit: decisions, and epochs that have begun.
decided as (

    select
        proven.source,
        array_sort(array_union(
            collect_set({{ 'decision.sentence' if is_decided else 'cast(null as string)' }}),
            collect_set({{ 'epoch.decision_sentence' if is_decided else 'cast(null as string)' }})
        )) as decisions
    from {{ ref('proof') }} as proven
    {% if is_decided -%}
    left join {{ ref('int_operator_decision') }} as decision
        on
            proven.source = decision.source
            and coalesce(proven.transaction_id, {{ snapshot_id('proven.read_position') }})
            = decision.transaction_id
    left join {{ ref('int_epoch') }} as epoch
        on
            proven.source = epoch.source
            and startswith(
                coalesce(proven.transaction_id, proven.read_position, proven.position),
                epoch.position_prefix
            )
    {%- endif %}
    where
        proven.cut_id = {{ candidate('cut_id') }}
        and proven.kind = 'unit'
        and proven.verdict in ('commit', 'discarded')
    group by proven.source

),

latest_commit as (

    select
        source,
        max_by(
            named_struct(
                'commit_number', commit_number,
                'commit_position', commit_position,
                'transaction_id', transaction_id,
                'committed_at', committed_at
            ),
            commit_number
        ) as latest,
        max_by(snapshot_position, commit_number) filter (
            where link_kind = 'initial_snapshot'
        ) as snapshot_position,
        collect_set(proof) as proofs,
        count(*) as new_commit_count
    from {{ ref('commit') }}
    where cut_id = {{ candidate('cut_id') }}
    group by source

),

known_source as (

    select source from {{ ref('int_starting_commit') }}
    union distinct
    select source from decided

)

select
    -- identity
    known.source,

    -- position
    coalesce(newest.latest.commit_number, started.commit_number, 0) as commit_number,
    case
        when newest.source is not null then newest.latest.commit_position
        else started.commit_position
    end as commit_position,
    coalesce(newest.snapshot_position, started.snapshot_position) as snapshot_position,

    -- provenance
    case
        when newest.source is not null then newest.latest.transaction_id
        else started.transaction_id
    end as transaction_id,
    case
        when newest.source is not null then newest.latest.committed_at
        else started.committed_at
    end as committed_at,
    case
        when array_contains(newest.proofs, 'none') or started.proof = 'none' then 'none'
        when array_contains(newest.proofs, 'watermark') or started.proof = 'watermark'
            then 'watermark'
        else 'counted'
    end as proof,
    array_union(
        coalesce(started.decisions, array()), coalesce(decided.decisions, array())
    ) as decisions,

    -- counts
    coalesce(newest.new_commit_count, 0) as new_commit_count
from known_source as known
left join {{ ref('int_starting_commit') }} as started
    on known.source = started.source
left join latest_commit as newest
    on known.source = newest.source
left join decided
    on known.source = decided.source
