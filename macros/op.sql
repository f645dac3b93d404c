{#-
    Debezium's code of an operation (`op` of the envelope), as an SQL literal.

    >>> op('truncate')
    't'

    >>> op('upsert')
    op: no operation is called 'upsert'; known: create, read, update, delete, truncate
-#}
{%- macro op(name) -%}
    {%- set codes = {'create': 'c', 'read': 'r', 'update': 'u', 'delete': 'd', 'truncate': 't'} -%}
    {%- if name not in codes -%}
        {%- do exceptions.raise_compiler_error(
            "op: no operation is called '" ~ name ~ "'; known: " ~ codes | join(', ')
        ) -%}
    {%- endif -%}
    '{{ codes[name] }}'
{%- endmacro -%}
