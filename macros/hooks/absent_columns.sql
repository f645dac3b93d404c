{#- The columns of a model that some message of its captured table lacks: one that came later, went, or was renamed. -#}
{%- macro absent_columns(captured, columns) -%}
    {%- set facts = table_facts(ref('int_table_shape'), ref('schema_change')) -%}
    {%- set absent = [] -%}
    {%- for _, common in facts.common.get((captured.schema, captured.table), []) -%}
        {%- do absent.extend(columns | reject('in', common)) -%}
    {%- endfor -%}
    {{- return(absent) -}}
{%- endmacro -%}
