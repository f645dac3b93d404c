with

unit as (

    select
        source,
        unit_kind,
        unit_id,
        commit_number,
        link_kind,
        transaction_id,
        committed_at,
        has_reset_counters
    from {{ ref('proof') }}
    where cut_id = {{ candidate('cut_id') }} and kind = 'unit' and verdict = 'commit'

),

placed_message as (

    select
        message.* except (transaction_id, committed_at),
        unit.commit_number,
        unit.link_kind,
        unit.committed_at,
        case when message.snapshot is null then unit.transaction_id end as transaction_id,
        message.snapshot is null
        and message.total_order is not null
        and not unit.has_reset_counters as is_ordered,
        -- By watermark_sources, offsets of CDL are in the order of commits; its LSNs are not (S22).
        case
            when {{ is_ordered_by_offset('message', var('watermark_sources')) }}
                then lpad(cast(message.`offset` as string), 20, '0')
            else message.event_position
        end as place_in_log
    from {{ ref('stg_message') }} as message
    inner join unit
        on
            message.source = unit.source
            and message.unit_kind = unit.unit_kind
            and message.unit_id = unit.unit_id
    where message.kind in ('change', 'schema_change') and message.copy_number = 1

),

placed_event as (

    select * from placed_message
    where kind = 'change'

),

-- CDL sends a change of the key as one update: a delete of the old key and a create of the new one
-- (S9, S22).
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
                place_in_log,
                is_old_half
                or (operation = {{ op('delete') }} and place_in_log is not null) desc,
                total_order,
                topic,
                partition,
                `offset`
        ) as place,
        count(*) over (partition by source, commit_number, snapshot is null) as place_count
    from parted_event
    where not is_ordered

),

{% if run_has('emptied_table') -%}
emptied_table as (

    select
        * except (data_collection),
        explode(emptied_tables) as data_collection
    from placed_message
    where kind = 'schema_change'

),

-- A rename in the same statement gave this name to another table, whose rows stay.
named_table as (

    select
        source,
        unit_id,
        explode(new_names) as data_collection
    from {{ ref('stg_message') }}
    where kind = 'schema_change' and unit_kind = 'statement'

),

ended_table as (

    select
        emptied_table.*,
        -- Between schema and table. A database of MySQL may have dots, and RENAME name another one.
        case
            when
                emptied_table.connector in ('mysql', 'mariadb')
                and startswith(
                    emptied_table.data_collection, concat(emptied_table.database_name, '.')
                )
                then length(emptied_table.database_name) + 1
            else
                1 + length(emptied_table.data_collection)
                - locate('.', reverse(emptied_table.data_collection))
        end as dot
    from emptied_table
    left anti join named_table
        on
            emptied_table.source = named_table.source
            and emptied_table.unit_id = named_table.unit_id
            and emptied_table.data_collection = named_table.data_collection

),

{% endif -%}
{% if run_has('read') -%}
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
    from placed_event
    where link_kind = 'initial_snapshot' and snapshot is not null
    group by all

),

{% endif -%}
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
        -- The half under the new key.
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
    -- Only one half is the message; the delete of the old key has no delivery.
    case when not is_old_half then topic end as topic,
    case when not is_old_half then partition end as partition,
    case when not is_old_half then `offset` end as `offset`,
    case when not is_old_half then event_hash end as event_hash,
    {{ candidate('cut_id') }}L as cut_id
from positioned_event
{%- if run_has('read') %}
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
{%- endif %}
{%- if run_has('emptied_table') %}
union all
-- A statement of DDL that drops or renames a table ends its rows, as a TRUNCATE does (S8).
select
    source,
    commit_number,
    row_number() over (
        partition by source, commit_number
        order by topic, partition, `offset`, data_collection
    ) as position,
    case
        when connector in ('mysql', 'mariadb') then left(data_collection, dot - 1)
        else substring_index(left(data_collection, dot - 1), '.', -1)
    end as schema_name,
    substr(data_collection, dot + 1) as table_name,
    {{ op('truncate') }} as operation,
    null as row_key,
    null as before,
    null as after,
    null as old_row_key,
    null as new_row_key,
    null as unavailable_columns,
    null as column_types,
    transaction_id,
    committed_at,
    topic,
    partition,
    `offset`,
    event_hash,
    {{ candidate('cut_id') }}L as cut_id
from ended_table
{%- endif %}
