{#-
    Has the package keep public tables as plain ones (dbt_debezium.public_tables, which the plugin calls in place of
    Spark): `write` what they lack of the candidate, out of sight of readers, and `move` all of them to it.
-#}
{%- macro keep_public_tables(step, int_cut, tables) -%}
    {%- if var('public_as_table') -%}
        {%- set call = {
            'public_schema': var('public_schema'),
            'cut': source('pointer', 'cut') | string,
            'reached': int_cut | string,
            'properties': metadata_properties(),
            'tables': tables | list
        } -%}
        {%- set line = run_query('call dbt_debezium.' ~ step ~ '_public_tables ' ~ tojson(call)).rows[0][0] -%}
        {%- if line -%}
            {%- do print_line(line) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro -%}
