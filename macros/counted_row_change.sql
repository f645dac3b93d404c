{#-
    Row changes, and of each delete how many rows its key has after it: none, except where a row took on the key in the
    same transaction before the row that had it gave it up (S9). Such a delete takes the row that had the key first, so
    it does not end the one that readers see. By their keys alone these changes look like one row that moves twice: only
    the row that stood there before tells them apart.

    Reads the CTEs change and row_change; adds `remaining_rows`.
-#}
{%- macro counted_row_change() -%}
    {%- set changes -%}
    collect_list(struct(
        cast(commit_number as bigint) as commit_number,
        cast(position as bigint) as position,
        operation,
        is_entering
    ))
    {%- endset -%}
shared_key as (

    -- A key may be shared in several commits.
    select distinct
        source,
        row_key
    from row_change
    group by source, row_key, commit_number
    having bool_or(old_row_key is not null) and bool_or(operation = {{ op('delete') }})

),

change_of_shared_key as (

    select
        row_change.source,
        row_change.row_key,
        row_change.commit_number,
        row_change.position,
        row_change.operation,
        row_change.old_row_key is not null as is_entering
    from row_change
    left semi join shared_key
        on row_change.source = shared_key.source and row_change.row_key = shared_key.row_key
    union all
    -- Also those that the table ignores: they tell which rows were there.
    select
        shared_key.source,
        shared_key.row_key,
        change.commit_number,
        change.position,
        change.operation,
        false as is_entering
    from shared_key
    inner join change
        on shared_key.source = change.source
    where change.operation = {{ op('truncate') }}
    {%- if is_incremental() %}
    union all
    select
        built._source as source,
        built._row_key as row_key,
        0 as commit_number,
        0 as position,
        {{ op('read') }} as operation,
        false as is_entering
    from {{ this }} as built
    left semi join shared_key
        on built._source = shared_key.source and built._row_key = shared_key.row_key
    where built._valid_to is null
    {%- endif %}

),

shared_delete as (

    select
        source,
        row_key,
        inline({{ shared_deletes(changes) }})
    from change_of_shared_key
    group by source, row_key

),

counted_row_change as (

    select
        row_change.*,
        coalesce(shared_delete.row_count, 0) as remaining_rows
    from row_change
    left join shared_delete
        on
            row_change.source = shared_delete.source
            and row_change.row_key = shared_delete.row_key
            and row_change.commit_number = shared_delete.commit_number
            and row_change.position = shared_delete.position

),
{%- endmacro -%}
