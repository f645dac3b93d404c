{#-
    Every row that one published commit changed, in every table, as JSON before and after it. It reads the public
    histories, so one query sees one cut; only those of tables that the commit changed.

    One row per source, commit_number, table_name (as readers know it) and row_key. A row that takes on another key is
    a delete and an insert, as is a row of a keyless table that changes. The query fails if the versions before
    the commit are removed (keep_version_days). The check gives a bound for a column of the history, see as_of_commit.
-#}
{%- macro transaction_diff(source_name, commit_number) -%}
    {%- set int_change = ref('int_change') -%}
    {%- set names = [] -%}
    {%- if execute -%}
        {%- set place = 'source = ' ~ string_literal(source_name) ~ ' and commit_number = ' ~ commit_number -%}
        {%- set changed = run_query(
            'select distinct schema_name, table_name from ' ~ int_change ~ ' where ' ~ place
        ).rows -%}
        {%- for node in graph.nodes.values()
            if node.config.materialized == 'row_history' and node.config.meta.captured -%}
            {%- set captured = node.config.meta.captured -%}
            {%- for row in changed
                if (row[1] is none or (row[0], row[1]) == (captured.schema, captured.table))
                and load_relation(public_relation(node.config.meta.public_name ~ '_history')) is not none -%}
                {%- do names.append(node.config.meta.public_name) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endif -%}
with

kept as (

    select
        coalesce(max(
            case
                when cut.history_from >= {{ commit_number }}
                    then raise_error(concat(
                        'transaction_diff: commit ', {{ commit_number }}, ' of ', cut.source, ' cannot be shown, because older versions '
                        'are removed; ask for a commit after ', cut.history_from
                    ))
                else {{ commit_number }}
            end
        ), {{ commit_number }}) as commit_number
    from (select inline(source_cuts) from {{ source('pointer', 'cut') }} where channel = 'published') as cut
    where cut.source = {{ string_literal(source_name) }}

),

image as (

    {% for name in names | unique | sort -%}
    {%- set history = public_relation(name ~ '_history') -%}
    {%- set columns = [] -%}
    {%- for column in column_names(history) if column not in [
        '_row_key', '_valid_from', '_valid_to', '_valid_from_at', '_valid_to_at', '_change'
    ] -%}
        {%- do columns.append('versions.' ~ quoted(column)) -%}
    {%- endfor -%}
    select
        {{ string_literal(name) }} as table_name,
        versions._row_key as row_key,
        versions._valid_from = {{ commit_number }} as is_after,
        to_json(struct({{ columns | join(', ') }}), map('ignoreNullFields', 'false')) as row_image
    from {{ history }} as versions
    where
        versions._change.source = {{ string_literal(source_name) }}
        and (versions._valid_from = {{ commit_number }} or versions._valid_to = {{ commit_number }})
        and versions._valid_from <= (select kept.commit_number from kept)
    {% if not loop.last %}union all{% endif %}
    {% else -%}
    select
        cast(null as string) as table_name,
        cast(null as string) as row_key,
        true as is_after,
        cast(null as string) as row_image
    where false
    {% endfor %}

),

row_diff as (

    select
        table_name,
        row_key,
        max(case when not is_after then row_image end) as row_before,
        max(case when is_after then row_image end) as row_after
    from image
    group by table_name, row_key

)

select
    {{ string_literal(source_name) }} as source,
    {{ commit_number }}L as commit_number,
    table_name,
    row_key,
    case
        when row_before is null then 'insert'
        when row_after is null then 'delete'
        else 'update'
    end as change,
    row_before as before,
    row_after as after
from row_diff
order by table_name, row_key
{%- endmacro -%}
