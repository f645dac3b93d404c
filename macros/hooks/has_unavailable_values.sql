{#-
    True when a change of the captured table that this run reads lacks a value that was not sent (S11). Asked once a
    run for all tables, so that the tables that have none are spared the search.
-#}
{%- macro has_unavailable_values(captured) -%}
    {%- if not execute or not load_relation(ref('int_change')) -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set key = 'debezium_unavailable_' ~ ('new' if is_incremental() else 'all') -%}
    {%- if key not in graph -%}
        {%- set tables = [] -%}
        {%- for row in run_query(
            "select distinct schema_name, table_name from " ~ ref('int_change')
            ~ " where unavailable_columns is not null and cut_id " ~ ('=' if is_incremental() else '<=') ~ candidate('cut_id')
        ).rows -%}
            {%- do tables.append((row[0], row[1])) -%}
        {%- endfor -%}
        {%- do graph.update({key: tables}) -%}
    {%- endif -%}
    {{- return((captured.schema, captured.table) in graph[key]) -}}
{%- endmacro -%}
