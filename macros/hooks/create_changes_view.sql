{#-
    The public view of what changed in a captured table: one row per source, commit_number and row_key, with the row
    before and after the commit as structs. A row that one transaction changes several times is one change, because
    nobody could see it in between. As in transaction_diff, a row that takes on another key is a delete and an insert.

    Changes up to history_from are left out: the versions before them may be removed (keep_version_days), and an update
    would look like an insert. The commit of each change comes from its own table, because the version that a delete
    leaves does not name the transaction. Each branch compares with one column of the history, so that a query of one
    commit opens only the files that have it.

    No view is made if the name belongs to another public table.
-#}
{%- macro create_changes_view(history, public_name) -%}
    {%- set name = public_name ~ '_changes' -%}
    {%- if name not in (public_table_choices() | map(attribute='name')) -%}
        {%- set fields = {'began': [], 'ended': []} -%}
        {%- for column in column_names(history)
            if column not in ['_source', '_row_key', '_valid_from', '_valid_to', '_change'] -%}
            {%- for versions in fields -%}
                {%- do fields[versions].append(string_literal(column) ~ ', ' ~ versions ~ '.' ~ quoted(column)) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- set same_row -%}
            began._source = ended._source and began._row_key = ended._row_key and began._valid_from = ended._valid_to
        {%- endset -%}
        {%- call statement('create_changes_view') -%}
            create or replace view {{ public_relation(name) }} as
            with pointer as (
                select inline(cut.source_cuts) from {{ source('pointer', 'cut') }} as cut where cut.channel = 'published'
            ),
            image as (
                select
                    began._source,
                    began._row_key,
                    began._valid_from as commit_number,
                    case when ended._row_key is null then 'insert' else 'update' end as operation,
                    case when ended._row_key is not null then named_struct({{ fields.ended | join(', ') }}) end as before,
                    named_struct({{ fields.began | join(', ') }}) as after
                from {{ history }} as began
                left join {{ history }} as ended
                    on {{ same_row }}
                union all
                select
                    ended._source,
                    ended._row_key,
                    ended._valid_to as commit_number,
                    'delete' as operation,
                    named_struct({{ fields.ended | join(', ') }}) as before,
                    null as after
                from {{ history }} as ended
                where
                    ended._valid_to is not null
                    and not exists (select 1 from {{ history }} as began where {{ same_row }})
            )
            select
                image._source as source,
                image.commit_number,
                commits.transaction_id,
                commits.committed_at,
                image.operation,
                image._row_key as row_key,
                image.before,
                image.after
            from pointer
            inner join {{ ref('commit') }} as commits
                on
                    pointer.source = commits.source
                    and commits.commit_number <= pointer.commit_number
                    and commits.commit_number > coalesce(pointer.history_from, 0)
            inner join image
                on commits.source = image._source and commits.commit_number = image.commit_number
        {%- endcall -%}
    {%- endif -%}
{%- endmacro -%}
