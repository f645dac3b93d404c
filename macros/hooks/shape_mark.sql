{#-
    A hash of all models of ours, for a model of ours; the empty text for others, whose columns macros of a project may
    change too.
-#}
{%- macro shape_mark() -%}
    {%- if model.package_name != 'dbt_debezium' -%}
        {{- return('') -}}
    {%- endif -%}
    {%- if 'debezium_shape' not in graph -%}
        {%- set read = [] -%}
        {%- for node in graph.nodes.values() if node.package_name == model.package_name and node.resource_type == 'model' -%}
            {%- do read.append(node.checksum.checksum) -%}
        {%- endfor -%}
        {%- do graph.update({'debezium_shape': local_md5(read | sort | join)}) -%}
    {%- endif -%}
    {{- return(graph['debezium_shape']) -}}
{%- endmacro -%}
