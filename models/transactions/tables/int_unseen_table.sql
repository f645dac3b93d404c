with

expected as (

    {{ expected_tables() }}

),

-- Tables that have changes, or are said to have some, which wait for something else.
held_table as (

    select
        source,
        data_collection
    from {{ ref('held_message') }}
    where cut_id = {{ candidate('cut_id') }} and data_collection is not null
    group by source, data_collection
    union all
    select
        source,
        explode(miscounted_tables.data_collection) as data_collection
    from {{ ref('held_transaction') }}

)

select
    -- identity
    int_cut.source,
    expected.schema_name,
    expected.table_name
from {{ ref('int_cut') }} as int_cut
inner join expected
    on rlike(int_cut.source, expected.source_pattern)
left anti join {{ ref('int_table_fact') }} as fact
    on
        int_cut.source = fact.source
        and expected.schema_name <=> fact.schema_name
        and expected.table_name = fact.table_name
        and fact.first_commit_number is not null
        and fact.cut_id = {{ candidate('cut_id') }}
-- What is held will be seen, so the hold says all.
left anti join held_table
    on
        int_cut.source = held_table.source
        and {{ is_called('data_collection', 'expected.schema_name', 'expected.table_name') }}
group by int_cut.source, expected.schema_name, expected.table_name
