{#- The types that messages have given each column of a captured table whose type was changed, by column. -#}
{%- macro changed_types(captured) -%}
    {{- return(dict(table_facts(ref('int_table_shape'), ref('schema_change')).types.get((captured.schema, captured.table), []))) -}}
{%- endmacro -%}
