with

-- A column that comes where another goes may be that one, under a new name.
changed_place as (

    select
        source,
        schema_name,
        table_name,
        commit_number,
        bool_or(change_kind = 'column_added' and has_default) as has_default,
        bool_or(change_kind = 'column_added') and bool_or(change_kind = 'column_missing')
            as is_renamed,
        bool_or(change_kind in ('type_changed', 'type_narrowed')) as is_converted,
        -- Without a key rows are told apart as a whole.
        bool_or(change_kind = 'key_changed' and previous_type != '[]' and column_type != '[]')
            as has_other_key
    from {{ ref('schema_change') }}
    where cut_id <= {{ candidate('cut_id') }}
    group by source, schema_name, table_name, commit_number, position

)

select
    -- identity
    source,
    schema_name,
    table_name,

    -- where
    max(commit_number) filter (where has_default) as default_commit_number,
    max(commit_number) filter (where is_renamed) as renamed_commit_number,
    max(commit_number) filter (where is_converted) as converted_commit_number,
    max(commit_number) filter (where has_other_key) as other_key_commit_number
from changed_place
group by source, schema_name, table_name
