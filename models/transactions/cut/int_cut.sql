with

new_commit as (

    select proven.*
    from {{ ref('commit') }} as proven
    where proven.cut_id = {{ candidate('cut_id') }}

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
        max(snapshot_position) filter (
            where link_kind = 'initial_snapshot'
        ) as snapshot_position,
        collect_set(proof) as proofs,
        count(*) as new_commit_count
    from new_commit
    group by source

),

-- Also past what is no commit: a logical message, or a transaction that was discarded.
reached_link as (

    select
        proven.source,
        max(proven.position) as link_position,
        max_by(proven.end_markers, proven.link_number) filter (
            where proven.end_markers is not null
        ) as end_markers,
        collect_list(case when proven.is_first_of_stream then proven.transaction_id end)
            as first_transaction_ids,
        array_sort(array_union(
            collect_set(proven.decision_sentence), collect_set(epoch.decision_sentence)
        )) as decisions
    from {{ ref('int_proven_link') }} as proven
    left join {{ ref('int_epoch') }} as epoch
        on
            proven.source = epoch.source
            and startswith(
                coalesce(proven.last_event_position, proven.snapshot_position, proven.position),
                epoch.position_prefix
            )
    group by proven.source

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

reached_commit as (

    select
        coalesce(reached_link.source, starting_commit.source) as source,
        case
            when latest_commit.source is not null then latest_commit.latest
            else named_struct(
                'commit_number', coalesce(starting_commit.commit_number, 0L),
                'commit_position', starting_commit.commit_position,
                'transaction_id', starting_commit.transaction_id,
                'committed_at', starting_commit.committed_at
            )
        end as latest,
        coalesce(reached_link.end_markers, starting_end.end_markers) as end_markers,
        greatest(reached_link.link_position, starting_commit.link_position) as link_position,
        coalesce(
            latest_commit.snapshot_position, starting_commit.snapshot_position
        ) as snapshot_position,
        array_union(
            coalesce(starting_commit.first_transaction_ids, array()),
            coalesce(reached_link.first_transaction_ids, array())
        ) as first_transaction_ids,
        case
            when array_contains(latest_commit.proofs, 'none') or starting_commit.proof = 'none'
                then 'none'
            when
                array_contains(latest_commit.proofs, 'watermark')
                or starting_commit.proof = 'watermark'
                then 'watermark'
            else 'counted'
        end as proof,
        array_union(
            coalesce(starting_commit.decisions, array()), coalesce(reached_link.decisions, array())
        ) as decisions,
        coalesce(latest_commit.new_commit_count, 0) as new_commit_count
    from reached_link
    left join latest_commit
        on reached_link.source = latest_commit.source
    full join starting_commit
        on reached_link.source = starting_commit.source
    left join {{ ref('int_end_marker') }} as starting_end
        on
            starting_commit.source = starting_end.source
            and starting_commit.end_markers[0].transaction_id = starting_end.transaction_id

)

select
    -- identity
    reached_commit.source,

    -- position
    reached_commit.latest.commit_number,
    reached_commit.latest.commit_position,
    reached_commit.link_position,
    reached_commit.snapshot_position,
    reached_commit.first_transaction_ids,
    reached_commit.end_markers,

    -- provenance
    reached_commit.latest.transaction_id,
    reached_commit.latest.committed_at,
    reached_commit.proof,
    reached_commit.decisions,

    -- counts
    reached_commit.new_commit_count,

    -- what is known of the logs that number transactions
    log_position.log_positions
from reached_commit
left join {{ ref('int_log_position') }} as log_position
    on reached_commit.source = log_position.source
