with

change as (

    select placed.*
    from {{ ref('int_change') }} as placed
    where placed.cut_id = {{ candidate('cut_id') }}

),

truncation as (

    select
        source,
        commit_number,
        schema_name,
        table_name,
        max(position) as last_position
    from change
    where operation = {{ op('truncate') }}
    group by source, commit_number, schema_name, table_name

)

select
    -- identity
    change.source,
    change.event_hash,

    -- delivery
    change.topic,
    change.partition,
    change.`offset`,

    -- what became of it
    coalesce(change.position < truncation.last_position, false)
    or coalesce(
        change.row_key is not null
        and change.position < max(change.position) over (
            -- What differs most comes first: Spark sorts by these in this order.
            partition by
                change.commit_number,
                change.row_key,
                change.source,
                change.schema_name,
                change.table_name
        ),
        false
    ) as is_superseded
from change
left join truncation
    on
        change.source = truncation.source
        and change.commit_number = truncation.commit_number
        and change.schema_name <=> truncation.schema_name
        and change.table_name = truncation.table_name
where change.topic is not null
