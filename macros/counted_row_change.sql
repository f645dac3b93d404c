{#-
    Row changes in which each delete says how many rows with its key it leaves: none, but for a key that a row takes on
    before another has left it, in one transaction (S9). Then the delete takes the oldest, and the newest stays. What
    such a statement sends looks like one row that moves twice: only the row that stood there before tells them apart.

    Reads the CTE row_change; adds `rows_left`.
-#}
{%- macro counted_row_change() -%}
shared_key as (

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
    select
        shared_key.source,
        shared_key.row_key,
        place.commit_number,
        place.position,
        {{ op('truncate') }} as operation,
        false as is_entering
    from shared_key
    inner join truncation
        on shared_key.source = truncation.source
    lateral view explode(truncation.places) as place
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

left_row as (

    select
        source,
        row_key,
        inline(rows_left(collect_list(struct(
            cast(commit_number as bigint) as commit_number,
            cast(position as bigint) as position,
            operation,
            is_entering
        ))))
    from change_of_shared_key
    group by source, row_key

),

counted_row_change as (

    select
        row_change.*,
        coalesce(left_row.row_count, 0) as rows_left
    from row_change
    left join left_row
        on
            row_change.source = left_row.source
            and row_change.row_key = left_row.row_key
            and row_change.commit_number = left_row.commit_number
            and row_change.position = left_row.position

),
{%- endmacro -%}
