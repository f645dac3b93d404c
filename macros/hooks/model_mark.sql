{#-
    A mark of all that a history model says of its table. A history that was built under another one is built again from
    all changes: a column that came, went or has another type, another identity, another source.
-#}
{%- macro model_mark(captured, columns) -%}
    {#- The name of each field that _change has gained since the first version. -#}
    {%- set said = {'columns': columns, '_change': ['absent_columns']} -%}
    {%- for name, value in captured.items() if name not in ['schema_changes', 'left_out'] -%}
        {%- do said.update({name: value}) -%}
    {%- endfor -%}
    {%- set mark = local_md5(tojson(said, sort_keys=True)) -%}
    {%- if execute -%}
        {%- do graph.setdefault('debezium_models', {}).update(
            {this | string: {'mark': mark, 'captured': captured, 'columns': columns}}
        ) -%}
    {%- endif -%}
    {{- return(mark) -}}
{%- endmacro -%}
