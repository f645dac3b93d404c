with

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
    from {{ ref('int_placed_event') }}

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
        committed_at,
        {% if var('repeated_snapshot_missing_table') == 'empty' -%}
        cast(null as string) as schema_name,
        cast(null as string) as table_name
        {%- else -%}
        schema_name,
        table_name
        {%- endif %}
    from {{ ref('int_placed_event') }}
    where link_kind = 'initial_snapshot'
    group by all

)

select
    -- identity
    source,
    commit_number,
    position,

    -- where it comes from
    schema_name,
    table_name,

    -- payload
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

    -- provenance
    transaction_id,
    committed_at,
    -- The other half is the message.
    case when not is_old_half then topic end as topic,
    case when not is_old_half then partition end as partition,
    case when not is_old_half then `offset` end as `offset`,
    case when not is_old_half then event_hash end as event_hash,
    {{ candidate('cut_id') }}L as cut_id
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
    committed_at,
    null as topic,
    null as partition,
    null as `offset`,
    null as event_hash,
    {{ candidate('cut_id') }}L as cut_id
from snapshot_table
