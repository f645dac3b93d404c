with

-- Reads of a blocking snapshot stand behind the transaction that signals it, and can land later.
blocking_signal as (

    select
        source,
        transaction_id,
        min(coalesce(previous_commit_position, '')) as previous_commit_position
    from {{ ref('stg_change_event') }}
    where
        {{ run_has('signal') }}
        and connector = 'postgresql'
        and not is_already_published
        and is_blocking_signal
    group by source, transaction_id

),

blocking_snapshot as (

    select
        source,
        snapshot_position,
        coalesce(previous_commit_position, '') as previous_commit_position,
        followed_position is not null as is_between_transactions
    from {{ ref('int_blocking_snapshot') }}

)

-- A signal that no snapshot answers: none stands behind it and before the next signal, and there
-- are fewer snapshots behind it than signals from it on.
select
    -- identity
    asked.source,
    asked.transaction_id
from blocking_signal as asked
left join blocking_snapshot as snapshot
    on
        asked.source = snapshot.source
        and asked.previous_commit_position <= snapshot.previous_commit_position
        and not (
            asked.previous_commit_position = snapshot.previous_commit_position
            and snapshot.is_between_transactions
        )
left join blocking_signal as later
    on
        asked.source = later.source
        and asked.previous_commit_position < later.previous_commit_position
group by asked.source, asked.transaction_id
having not coalesce(
    min(snapshot.previous_commit_position) < min(later.previous_commit_position)
    or count(distinct snapshot.snapshot_position) > count(distinct later.transaction_id),
    false
)
