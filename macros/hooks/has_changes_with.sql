{#-
    True when a change of the captured table that this run reads is of a kind that few tables have in a run: any change
    at all, a value that was not sent (S11), a row that changes its key (S9), or a truncation (S8). Asked once a run for
    all tables, so that a table is spared the search for what it has not.
-#}
{%- macro has_changes_with(captured, kind) -%}
    {%- set kinds = {
        'any': 'true',
        'unavailable_columns': 'bool_or(unavailable_columns is not null)',
        'old_row_key': 'bool_or(old_row_key is not null)',
        'truncate': 'bool_or(operation = ' ~ op('truncate') ~ ')',
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
        {%- set found = {} -%}
        {%- for row in run_query(
            'select schema_name, table_name, ' ~ kinds.values() | join(', ') ~ ' from ' ~ ref('int_change')
            ~ ' where cut_id ' ~ ('=' if is_incremental() else '<=') ~ ' ' ~ candidate('cut_id')
            ~ ' group by schema_name, table_name'
        ).rows -%}
            {%- do found.update({(row[0], row[1]): dict(zip(kinds, row.values()[2:]))}) -%}
        {%- endfor -%}
        {%- do graph.update({key: found}) -%}
    {%- endif -%}
    {#- A snapshot may empty every table of its source. -#}
    {%- set of_all = graph[key].get((none, none), {}) -%}
    {%- set of_table = graph[key].get((captured.schema, captured.table), {}) -%}
    {{- return(of_all.get(kind, false) or of_table.get(kind, false)) -}}
{%- endmacro -%}
