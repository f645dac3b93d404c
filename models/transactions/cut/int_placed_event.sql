with

new_commit as (

    select proven.*
    from {{ ref('commit') }} as proven
    where proven.cut_id = {{ candidate('cut_id') }}

),

event as (

    select * from {{ ref('stg_change_event') }}
    where not is_already_published and copy_number = 1

),

-- How an event finds its commit.
keyed_commit as (

    select
        *,
        explode(
            case
                when transaction_id is null then array(concat('snapshot ', snapshot_position))
                else array_compact(array(
                    concat('transaction ', transaction_id),
                    concat('window after ', coalesce(predecessor_position, 'nothing')),
                    concat('window in ', coalesce(log_position, commit_position))
                ))
            end
        ) as commit_key
    from new_commit
    union all
    -- Places in a file number events, so the event that closed the window tells; also of reads
    -- that lack the GTID.
    select
        new_commit.*,
        concat(
            'window in file#',
            substr(event.event_position, 1, length({{ epoch_of('event.event_position') }}) + 30)
        ) as commit_key
    from new_commit
    inner join event
        on
            new_commit.source = event.source
            and new_commit.transaction_id = event.transaction_id
            and event.connector in ('mysql', 'mariadb')
            and event.is_window_close
    where {{ run_has('signal') }}

)

select
    -- identity
    event.source,
    keyed_commit.commit_number,
    event.event_hash,

    -- delivery
    event.topic,
    event.partition,
    event.`offset`,

    -- where it comes from
    event.schema_name,
    event.table_name,

    -- order
    event.snapshot,
    event.event_position,
    event.total_order,
    keyed_commit.link_kind,

    -- payload
    event.operation,
    event.row_key,
    event.before,
    event.after,
    event.old_row_key,
    event.new_row_key,
    event.column_types,

    -- provenance
    event.transaction_id,
    keyed_commit.committed_at,

    event.snapshot is null
    and event.total_order is not null
    and not keyed_commit.has_reset_counters as is_ordered
from event
inner join keyed_commit
    on
        event.source = keyed_commit.source
        and keyed_commit.commit_key = case
            when event.snapshot is null then concat('transaction ', event.transaction_id)
            when event.snapshot = 'incremental' and event.connector = 'postgresql'
                then
                    concat(
                        'window after ', coalesce(event.previous_commit_position, 'nothing')
                    )
            when event.snapshot = 'incremental'
                then concat('window in ', coalesce(event.log_position, event.commit_position))
            else concat('snapshot ', event.event_position)
        end
