with

announced as (

    select
        source,
        schema_name,
        table_name,
        event_position,
        topic,
        partition,
        `offset`,
        key_columns,
        cut_id,
        explode(table_columns) as announced_column
    from {{ ref('stg_schema_change') }}

),

shown as (

    select
        source,
        schema_name,
        table_name,
        commit_number,
        topic,
        partition,
        `offset`,
        cut_id,
        from_json(key_columns, 'array<string>') as key_columns,
        posexplode(from_json(column_types, 'map<string, string>'))
            as (ordinal, column_name, sent_type)
    from {{ ref('int_table_shape') }}

)

select
    -- identity
    announced.source,
    announced.schema_name,
    announced.table_name,
    announced.announced_column.column_name,

    -- position
    null as commit_number,
    announced.event_position,
    announced.topic,
    announced.partition,
    announced.`offset`,
    'schema_change' as told_by,

    -- payload
    announced.announced_column.column_position,
    announced.announced_column.type_name as column_type,
    announced.announced_column.type_length,
    announced.announced_column.type_scale,
    announced.announced_column.is_nullable,
    announced.announced_column.has_default,
    coalesce(
        array_contains(announced.key_columns, announced.announced_column.column_name), false
    ) as is_key,
    announced.announced_column.column_comment,

    -- provenance
    announced.cut_id
from announced
union all
select
    source,
    schema_name,
    table_name,
    column_name,
    commit_number,
    null as event_position,
    topic,
    partition,
    `offset`,
    'change' as told_by,
    ordinal + 1 as column_position,
    nullif({{ without_default('sent_type') }}, '') as column_type,
    null as type_length,
    null as type_scale,
    null as is_nullable,
    case when sent_type != '' then endswith(sent_type, ' with default') end as has_default,
    array_contains(key_columns, column_name) as is_key,
    null as column_comment,
    cut_id
from shown
