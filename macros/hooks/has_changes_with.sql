{#-
    True when a change of the captured table that this run reads has a value in a column of int_change that few have:
    `unavailable_columns` (S11) or `old_row_key` (S9). Asked once a run for all tables, so that the tables of which none
    has one are spared the search.
-#}
{%- macro has_changes_with(captured, column) -%}
    {%- if column not in ['unavailable_columns', 'old_row_key'] -%}
        {%- do exceptions.raise_compiler_error(
            "has_changes_with: '" ~ column ~ "' is not looked for; known: unavailable_columns, old_row_key"
        ) -%}
    {%- endif -%}
    {%- if not execute or not load_relation(ref('int_change')) -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set key = 'debezium_rare_columns_' ~ ('new' if is_incremental() else 'all') -%}
    {%- if key not in graph -%}
        {%- set found = [] -%}
        {%- for row in run_query(
            "select schema_name, table_name, bool_or(unavailable_columns is not null), bool_or(old_row_key is not null) from "
            ~ ref('int_change') ~ " where (unavailable_columns is not null or old_row_key is not null) and cut_id "
            ~ ('=' if is_incremental() else '<=') ~ candidate('cut_id') ~ " group by schema_name, table_name"
        ).rows -%}
            {%- do found.extend([(row[0], row[1], 'unavailable_columns')] if row[2] else []) -%}
            {%- do found.extend([(row[0], row[1], 'old_row_key')] if row[3] else []) -%}
        {%- endfor -%}
        {%- do graph.update({key: found}) -%}
    {%- endif -%}
    {{- return((captured.schema, captured.table, column) in graph[key]) -}}
{%- endmacro -%}
