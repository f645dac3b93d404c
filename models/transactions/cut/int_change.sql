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

),

placed_event as (

    select
        event.*,
        keyed_commit.commit_number,
        keyed_commit.link_kind,
        keyed_commit.committed_at as commit_time,
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

),

-- An update that changes the key, as CDL sends it, takes the row from the old one first (S9, S22).
parted_event as (

    select
        *,
        explode(
            case
                when operation = {{ op('update') }} and old_row_key is not null and not is_ordered
                    then array(true, false)
                else array(false)
            end
        ) as is_old_half
    from placed_event

),

-- Events that counters do not order: reads, and changes whose counters were reset or never sent.
ranked_event as (

    select
        *,
        row_number() over (
            partition by source, commit_number, snapshot is null
            order by
                event_position,
                is_old_half
                or (operation = {{ op('delete') }} and event_position is not null) desc,
                total_order,
                topic,
                partition,
                `offset`
        ) as place,
        count(*) over (partition by source, commit_number, snapshot is null) as place_count
    from parted_event
    where not is_ordered

),

positioned_event as (

    select
        *,
        total_order as position
    from parted_event
    where is_ordered
    union all
    select
        * except (place, place_count),
        -- The reads of a window stand before the first event of its transaction (S6).
        case when snapshot = 'incremental' then place - place_count else place end as position
    from ranked_event

),

snapshot_table as (

    select
        source,
        commit_number,
        commit_time,
        {% if var('repeated_snapshot_missing_table') == 'empty' -%}
        cast(null as string) as schema_name,
        cast(null as string) as table_name
        {%- else -%}
        schema_name,
        table_name
        {%- endif %}
    from placed_event
    where link_kind = 'initial_snapshot'
    group by all

),

change as (

    select
        source,
        commit_number,
        position,
        schema_name,
        table_name,
        case
            when is_old_half then {{ op('delete') }}
            -- Under its new key the row begins.
            when operation = {{ op('update') }} and old_row_key is not null and not is_ordered
                then {{ op('create') }}
            else operation
        end as operation,
        case when is_old_half then old_row_key else row_key end as row_key,
        before,
        case when not is_old_half then after end as after,
        case when not is_old_half then old_row_key end as old_row_key,
        case when is_old_half then row_key else new_row_key end as new_row_key,
        {{ unavailable_columns('after', var('unavailable_value_placeholder')) }}
            as unavailable_columns,
        case when not is_old_half then column_types end as column_types,
        transaction_id,
        commit_time,
        -- The other half is the message.
        case when not is_old_half then topic end as topic,
        case when not is_old_half then partition end as partition,
        case when not is_old_half then `offset` end as `offset`,
        case when not is_old_half then event_hash end as event_hash
    from positioned_event
    union all
    -- The reads of a snapshot are one commit, which empties their tables before it fills them (S5).
    select
        source,
        commit_number,
        1 - row_number() over (
            partition by source, commit_number
            order by schema_name, table_name
        ) as position,
        schema_name,
        table_name,
        {{ op('truncate') }} as operation,
        null as row_key,
        null as before,
        null as after,
        null as old_row_key,
        null as new_row_key,
        null as unavailable_columns,
        null as column_types,
        null as transaction_id,
        commit_time,
        null as topic,
        null as partition,
        null as `offset`,
        null as event_hash
    from snapshot_table

)

select
    -- identity
    change.source,
    change.commit_number,
    change.position,

    -- where it comes from
    change.schema_name,
    change.table_name,

    -- payload
    change.operation,
    change.row_key,
    change.before,
    change.after,
    change.old_row_key,
    change.new_row_key,
    change.unavailable_columns,
    change.column_types,

    -- provenance
    change.transaction_id,
    change.commit_time as committed_at,
    change.topic,
    change.partition,
    change.`offset`,
    change.event_hash,
    {{ candidate('cut_id') }}L as cut_id
from change
