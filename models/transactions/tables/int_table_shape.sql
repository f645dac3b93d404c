with

change as (

    select
        placed.source,
        placed.schema_name,
        placed.table_name,
        struct(
            placed.column_types,
            coalesce(to_json(json_object_keys(placed.row_key)), '[]') as key_columns
        ) as shape,
        struct(
            placed.commit_number, placed.position, placed.topic, placed.partition, placed.`offset`
        ) as seen
    from {{ ref('int_change') }} as placed
    where
        placed.cut_id = {{ candidate('cut_id') }}
        and placed.column_types is not null
        and placed.operation != {{ op('truncate') }}

),

known_shape as (

    {% if is_incremental() -%}
    select
        built.source,
        built.schema_name,
        built.table_name,
        max_by(
            struct(built.column_types, built.key_columns),
            struct(built.commit_number, built.position)
        ) as shape
    from {{ this }} as built
    where built.cut_id <= {{ candidate('starting_cut_id') }}
    group by built.source, built.schema_name, built.table_name
    {%- else -%}
    select
        '' as source,
        '' as schema_name,
        '' as table_name,
        named_struct('column_types', '', 'key_columns', '') as shape
    where false
    {%- endif %}

),

-- Most tables have one shape in a run, the one they had: only the others are put in order.
new_shape as (

    select
        change.source,
        change.schema_name,
        change.table_name,
        change.shape,
        known_shape.shape as known_shape,
        min(change.seen) as seen,
        count(*) over (
            partition by change.source, change.schema_name, change.table_name
        ) as shape_count
    from change
    left join known_shape
        on
            change.source = known_shape.source
            and change.schema_name <=> known_shape.schema_name
            and change.table_name = known_shape.table_name
    group by
        change.source,
        change.schema_name,
        change.table_name,
        change.shape,
        known_shape.shape

),

changing_table as (

    select
        source,
        schema_name,
        table_name,
        max(known_shape) as known_shape
    from new_shape
    where shape_count > 1
    group by source, schema_name, table_name

),

ordered_change as (

    select
        change.*,
        coalesce(
            lag(change.shape) over (
                partition by change.source, change.schema_name, change.table_name
                order by change.seen.commit_number, change.seen.position
            ),
            changing_table.known_shape
        ) as previous_shape
    from change
    inner join changing_table
        on
            change.source = changing_table.source
            and change.schema_name <=> changing_table.schema_name
            and change.table_name = changing_table.table_name

),

table_shape as (

    select
        source,
        schema_name,
        table_name,
        shape,
        seen
    from new_shape
    where shape_count = 1 and shape is distinct from known_shape
    union all
    select
        source,
        schema_name,
        table_name,
        shape,
        seen
    from ordered_change
    where shape is distinct from previous_shape

)

select
    -- identity
    table_shape.source,
    table_shape.schema_name,
    table_shape.table_name,
    table_shape.seen.commit_number,
    table_shape.seen.position,

    -- payload
    table_shape.shape.column_types,
    table_shape.shape.key_columns,

    -- provenance
    table_shape.seen.topic,
    table_shape.seen.partition,
    table_shape.seen.`offset`,
    {{ candidate('cut_id') }}L as cut_id
from table_shape
