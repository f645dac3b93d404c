with

-- A deferred constraint lets a row be created before another one of its key is deleted, so only the
-- whole transaction tells. A window reads rows that are there already.
change as (

    select
        *,
        operation in ({{ op('create') }}, {{ op('read') }}, {{ op('delete') }})
        and case when read_in is null then proof = 'counted' else read_in != 'transaction' end
        and not is_read_twice as is_counted
    from {{ ref('int_new_change') }}

),

changed_key as (

    select
        source,
        schema_name,
        table_name,
        commit_number,
        row_key,
        count_if(is_counted and operation != {{ op('delete') }}) as begun_count,
        count_if(is_counted and operation = {{ op('delete') }}) as ended_count,
        -- A table of several pluggable databases of Oracle has a topic of each, and no model.
        size(collect_set(topic) filter (where is_counted)) as topic_count,
        bool_or(
            operation = {{ op('truncate') }}
            or (operation = {{ op('delete') }} and {{ is_filler_key('row_key', 'before') }})
        ) as empties
    from change
    group by source, schema_name, table_name, commit_number, row_key

),

-- In commits in which a row can disappear without a delete of its key, nothing tells.
repeated_key as (

    select
        *,
        bool_or(empties) over (
            partition by source, schema_name, table_name, commit_number
        ) as is_emptied
    from changed_key

),

-- Two rows with one key: a snapshot read both, or a transaction created both.
shared_key as (

    select
        source,
        schema_name,
        table_name,
        commit_number
    from repeated_key
    where
        not is_emptied
        and row_key is not null
        and begun_count - ended_count > topic_count
    {%- if run_has('read') %}
    union all
    -- A read of another connector than PostgreSQL is known by its key alone (S1).
    select
        copied.source,
        copied.schema_name,
        copied.table_name,
        new_commit.commit_number
    from {{ ref('stg_message') }} as copied
    inner join {{ ref('int_new_commit') }} as new_commit
        on copied.source = new_commit.source and copied.unit_id = new_commit.snapshot_position
    where
        copied.kind = 'change'
        and copied.unit_kind = 'snapshot'
        and copied.row_key is not null
        and not copied.has_content_of_first_copy
        and not new_commit.is_read_twice
    {%- endif %}

)

select
    -- identity
    source,
    schema_name,
    table_name,

    -- where
    max(commit_number) as shared_key_commit_number
from shared_key
group by source, schema_name, table_name
