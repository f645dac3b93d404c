{#-
    A decimal, or its text, from the JSON text of an integer and the number of its digits after the point.

    >>> decoded_variable_scale('n', 'string') == pointed_unscaled("get_json_object(n, '$.value')", "try_cast(get_json_object(n, '$.scale') as int)")
    True
-#}
{%- macro decoded_variable_scale(text, spark_type) -%}
    {%- set number = pointed_unscaled(
        'get_json_object(' ~ text ~ ", '$.value')", 'try_cast(get_json_object(' ~ text ~ ", '$.scale') as int)"
    ) -%}
    {%- if spark_type == 'string' -%}
        {{- number -}}
    {%- else -%}
        element_at(transform(array({{ number }}), number -> {{ decoded_decimal('number', spark_type) }}), 1)
    {%- endif -%}
{%- endmacro -%}
