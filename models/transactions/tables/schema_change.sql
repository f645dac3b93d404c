with

shape as (

    select
        *,
        from_json(column_types, 'map<string, string>') as new_types,
        lag(from_json(column_types, 'map<string, string>')) over (
            partition by source, schema_name, table_name
            order by commit_number, position
        ) as previous_types,
        lag(key_columns) over (
            partition by source, schema_name, table_name
            order by commit_number, position
        ) as previous_key_columns
    from {{ ref('int_table_shape') }}

),

-- One row per column that the table had before or has now, and one for the key, without a name.
compared as (

    select
        source,
        schema_name,
        table_name,
        commit_number,
        position,
        topic,
        partition,
        `offset`,
        cut_id,
        previous_types,
        new_types,
        previous_key_columns,
        key_columns,
        explode(concat(
            array_union(map_keys(previous_types), map_keys(new_types)), array(cast(null as string))
        )) as column_name
    from shape
    where previous_types is not null

),

typed as (

    select
        *,
        column_name is not null and not map_contains_key(previous_types, column_name) as is_added,
        column_name is not null and not map_contains_key(new_types, column_name) as is_missing,
        coalesce(endswith(new_types[column_name], ' with default'), false) as has_default,
        case
            when column_name is null then previous_key_columns
            else nullif({{ without_default('previous_types[column_name]') }}, '')
        end as previous_type,
        case
            when column_name is null then key_columns
            else nullif({{ without_default('new_types[column_name]') }}, '')
        end as column_type
    from compared

),

change as (

    select
        *,
        case
            when column_name is null then 'key_changed'
            when is_added then 'column_added'
            when is_missing then 'column_missing'
            else {{ type_change('previous_type', 'column_type') }}
        end as change_kind,
        bool_or(is_missing) over (
            partition by source, schema_name, table_name, commit_number, position
        ) as has_missing_column
    from typed
    where is_added or is_missing or previous_type != column_type

),

announced as (

    select
        source,
        schema_name,
        table_name,
        explode(table_columns) as announced_column
    from {{ ref('stg_schema_change') }}

),

announced_default as (

    select
        announced.source,
        announced.schema_name,
        announced.table_name,
        announced.announced_column.column_name
    from announced
    where announced.announced_column.has_default
    group by
        announced.source,
        announced.schema_name,
        announced.table_name,
        announced.announced_column.column_name

)

select
    -- identity
    change.source,
    change.schema_name,
    change.table_name,
    change.commit_number,
    change.position,
    change.column_name,

    -- payload
    change.change_kind,
    change.previous_type,
    change.column_type,

    -- provenance
    change.topic,
    change.partition,
    change.`offset`,
    change.cut_id,

    -- what no event says
    coalesce(change.has_default or announced_default.column_name is not null, false) as has_default,
    case
        -- A column that comes where another goes may have been renamed: rows keep the old name.
        when change.change_kind = 'column_added'
            then
                change.has_default
                or change.has_missing_column
                or announced_default.column_name is not null
        else change.change_kind in ('type_changed', 'type_narrowed')
    end as may_have_changed_rows
from change
left join announced_default
    on
        change.source = announced_default.source
        and change.schema_name <=> announced_default.schema_name
        and change.table_name = announced_default.table_name
        and change.column_name = announced_default.column_name
