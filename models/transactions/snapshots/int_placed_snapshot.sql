{%- if not run_has('read') -%}
{{ no_rows({
    'source': 'string', 'snapshot_position': 'string', 'is_blocking': 'boolean', 'committed_at': 'timestamp',
    'has_place': 'boolean', 'position': 'string',
}) }}
{%- else -%}
with

pending_transaction as (

    select * from {{ ref('int_transaction') }}
    where commit_position is not null

),

snapshot as (

    select
        source,
        event_position as snapshot_position,
        bool_or({{ ordered_by_end('connector') }}) as is_ordered_by_end,
        max(committed_at) as committed_at
    from {{ ref('int_pending_read') }}
    group by source, event_position

),

sent_transaction as (

    select * from {{ ref('int_sent_transaction') }}

),

-- The first of the transactions that were sent after a snapshot.
following_transaction as (

    select
        sent.source,
        sent.snapshot_position,
        min(pending_transaction.commit_position) as commit_position
    from sent_transaction as sent
    inner join pending_transaction
        on
            sent.source = pending_transaction.source
            and sent.transaction_id = pending_transaction.transaction_id
    where not sent.is_before
    group by sent.source, sent.snapshot_position

),

-- A blocking snapshot follows the transaction that was open when the connector paused for it, else
-- the one before (S7). A snapshot that END's order does not place stands behind what it has seen.
placed_snapshot as (

    select
        snapshot.source,
        snapshot.snapshot_position,
        snapshot.is_ordered_by_end,
        snapshot.committed_at,
        asked.source is not null as is_blocking,
        coalesce(
            asked.followed_position,
            min(pending_transaction.commit_position) filter (
                where
                asked.previous_commit_position = pending_transaction.previous_commit_position
                or asked.first_transaction_id = pending_transaction.transaction_id
            )
        ) as signalled_position,
        max(pending_transaction.commit_position) filter (
            where
            coalesce(
                sent.is_before,
                pending_transaction.last_event_position <= snapshot.snapshot_position
            )
            and coalesce(pending_transaction.commit_position < later.commit_position, true)
        ) as seen_position
    from snapshot
    left join {{ ref('int_blocking_snapshot') }} as asked
        on
            snapshot.source = asked.source
            and snapshot.snapshot_position = asked.snapshot_position
    left join pending_transaction
        on
            (asked.source is not null or snapshot.is_ordered_by_end)
            and snapshot.source = pending_transaction.source
    left join sent_transaction as sent
        on
            snapshot.source = sent.source
            and snapshot.snapshot_position = sent.snapshot_position
            and pending_transaction.transaction_id = sent.transaction_id
    left join following_transaction as later
        on
            snapshot.source = later.source
            and snapshot.snapshot_position = later.snapshot_position
    group by
        snapshot.source,
        snapshot.snapshot_position,
        snapshot.is_ordered_by_end,
        snapshot.committed_at,
        asked.source,
        asked.followed_position

)

select
    -- identity
    placed.source,
    placed.snapshot_position,

    -- what it is
    placed.is_blocking,
    placed.committed_at,
    not placed.is_blocking or placed.signalled_position is not null as has_place,

    -- position
    case
        when placed.is_blocking then coalesce(placed.signalled_position, placed.snapshot_position)
        when placed.is_ordered_by_end
            then
                concat(
                    split_part(
                        coalesce(
                            greatest(placed.seen_position, starting_commit.link_position),
                            {{ offset_position(0) }}
                        ),
                        '+',
                        1
                    ),
                    '+',
                    placed.snapshot_position
                )
        else placed.snapshot_position
    end as position
from placed_snapshot as placed
left join {{ ref('int_starting_commit') }} as starting_commit
    on placed.source = starting_commit.source
{%- endif %}
