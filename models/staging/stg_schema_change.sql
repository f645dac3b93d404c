with

table_change as (

    select
        landed.*,
        posexplode(from_json(
            landed.table_changes,
            'array<struct<
                type: string, id: string, table: struct<
                    primaryKeyColumnNames: array<string>, columns: array<struct<
                        name: string, position: int, typeName: string, typeExpression: string,
                        length: bigint, scale: int, optional: boolean, hasDefaultValue: boolean,
                        defaultValueExpression: string, comment: string
                    >>
                >
            >>'
        )) as (place, announced)
    from {{ ref('stg_message') }} as landed
    where
        {{ comes_from('schema_change') }}
        -- What is held was new in an earlier run.
        and landed.landing_id > {{ candidate('starting_landing_id') }}
        and landed.kind = 'schema_change'
        and landed.table_changes is not null
        and not landed.is_repeated_delivery

),

-- The name of a table is its parts in quotes: "shop"."orders", "testDB"."dbo"."orders".
named_change as (

    select
        table_change.*,
        transform(
            regexp_extract_all(table_change.announced.id, '"((?:[^"]|"")*)"', 1),
            part -> replace(part, '""', '"')
        ) as name_parts
    from table_change

)

select
    -- delivery
    named_change.landing_id,
    named_change.topic,
    named_change.partition,
    named_change.`offset`,
    named_change.place,

    -- where it comes from
    named_change.source,

    -- position
    named_change.event_position,

    -- payload
    named_change.announced.type as change_type,

    -- provenance
    {{ candidate('cut_id') }}L as cut_id,

    -- its name and columns. A default is a value of the source: only that there is one is kept
    try_element_at(named_change.name_parts, -2) as schema_name,
    try_element_at(named_change.name_parts, -1) as table_name,
    named_change.announced.table.primarykeycolumnnames as key_columns,
    transform(
        named_change.announced.table.columns,
        one -> named_struct(
            'column_name', one.name,
            'column_position', one.position,
            'type_name', coalesce(one.typeexpression, one.typename),
            'type_length', one.length,
            'type_scale', one.scale,
            'is_nullable', one.optional,
            'has_default', coalesce(one.hasdefaultvalue, one.defaultvalueexpression is not null),
            'column_comment', one.comment
        )
    ) as table_columns
from named_change
