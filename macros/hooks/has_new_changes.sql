{#- True when this run brings a change of the captured table, or a snapshot, which is a change of every table. -#}
{%- macro has_new_changes(captured) -%}
    {%- if 'debezium_changed_tables' not in graph -%}
        {%- set rows = run_query(
            "select distinct schema_name, table_name from " ~ ref('int_change')
            ~ " where cut_id = " ~ candidate('cut_id')
        ).rows -%}
        {%- set changed_tables = [] -%}
        {%- for row in rows -%}
            {%- do changed_tables.append((row[0], row[1])) -%}
        {%- endfor -%}
        {%- do graph.update({'debezium_changed_tables': changed_tables}) -%}
    {%- endif -%}
    {%- set changed_tables = graph['debezium_changed_tables'] -%}
    {{- return((captured.schema, captured.table) in changed_tables or (none, none) in changed_tables) -}}
{%- endmacro -%}
