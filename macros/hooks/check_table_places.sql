{#-
    Refuses a run while a table that it may write has its files outside of the warehouse (dbt_debezium.maintenance.table_places,
    which the plugin calls in place of Spark). What Spark shows of a table has its location on a line of its own. A
    comment or a name of a column can contain another line that looks like it, so all such lines go there.
-#}
{%- macro check_table_places() -%}
    {%- if execute and flags.WHICH in ['run', 'build'] -%}
        {%- set places = {} -%}
        {%- for node in graph.nodes.values() | list + graph.sources.values() | list
            if node.resource_type == 'model' or node.get('source_name') in ['landing', 'pointer'] -%}
            {%- set name = node.get('alias') or node.get('identifier') -%}
            {%- set relation = load_relation(api.Relation.create(schema=node.schema, identifier=name)) -%}
            {%- set said = (relation.information or '') if relation else '' -%}
            {%- set shown = modules.re.findall('(?m)^Location: (.*)$', said) -%}
            {%- if shown and 'dbt_debezium.read_by=' in shown_properties(said) -%}
                {%- do places.update({node.schema ~ '.' ~ name: shown}) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- if places -%}
            {%- call statement('check_table_places') -%}
                call dbt_debezium.check_table_places {{ tojson(places) }}
            {%- endcall -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro -%}
