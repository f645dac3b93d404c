{#-
    True when a change of the captured table that this run reads is of a kind that few tables have in a run: any change
    at all, a value that was not sent (S11), a row that changes its key, a key that one row takes on and another one
    gives up in one commit (S9), or a truncation (S8). Asked once a run for all tables, so that a table is spared the
    search for what it has not.
-#}
{%- macro has_changes_with(captured, kind) -%}
    {%- set kinds = {
        'any': 'true',
        'unavailable_columns': 'bool_or(lacks_value)',
        'old_row_key': 'bool_or(is_entering)',
        'shared_key': 'bool_or(is_entering and is_deleted)',
        'truncate': 'bool_or(is_truncated)',
    } -%}
    {%- if kind not in kinds -%}
        {%- do exceptions.raise_compiler_error(
            "has_changes_with: '" ~ kind ~ "' is not looked for; known: " ~ kinds | join(', ')
        ) -%}
    {%- endif -%}
    {%- if not execute or not load_relation(ref('int_change')) -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set key = 'debezium_kinds_of_' ~ ('new' if is_incremental() else 'all') ~ '_changes' -%}
    {%- if key not in graph -%}
        {%- set query -%}
            select schema_name, table_name, {{ kinds.values() | join(', ') }}
            from (
                select
                    schema_name,
                    table_name,
                    bool_or(unavailable_columns is not null) as lacks_value,
                    bool_or(old_row_key is not null) as is_entering,
                    bool_or(operation = {{ op('delete') }}) as is_deleted,
                    bool_or(operation = {{ op('truncate') }}) as is_truncated
                from {{ ref('int_change') }}
                where cut_id {{ '=' if is_incremental() else '<=' }} {{ candidate('cut_id') }}
                group by schema_name, table_name, source, commit_number, row_key
            )
            group by schema_name, table_name
        {%- endset -%}
        {%- set found = {} -%}
        {%- for row in run_query(query).rows -%}
            {%- do found.update({(row[0], row[1]): dict(zip(kinds, row.values()[2:]))}) -%}
        {%- endfor -%}
        {%- do graph.update({key: found}) -%}
    {%- endif -%}
    {#- A snapshot may empty every table of its source. -#}
    {%- set of_all = graph[key].get((none, none), {}) -%}
    {%- set of_table = graph[key].get((captured.schema, captured.table), {}) -%}
    {{- return(of_all.get(kind, false) or of_table.get(kind, false)) -}}
{%- endmacro -%}
