{#- True when a query yields the columns that a stored table has beside cut_id, by name and in order. -#}
{%- macro is_same_shape(stored, query) -%}
    {%- set stored_names = column_names(stored) | reject('equalto', 'cut_id') | list -%}
    {{- return(stored_names == get_column_schema_from_query(query) | map(attribute='name') | list) -}}
{%- endmacro -%}
