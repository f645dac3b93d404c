{#-
    A branch of a case that refuses an object or a list where the model has one value: no value of the column will fit,
    so to name each of them would only hide the mistake. It names the message and not what it holds. Nothing for types
    that are made of objects, lists or any text.

    >>> misfit_refusal({'schema': 'public', 'table': 'orders'}, 'total', 'int')
    when decoded.`total` is null and left(raw.`total`, 1) in ('{', '[')
        then raise_error(concat(
            'public.orders: column total is int in its history model, and message ', delivery,
            ' holds an object or a list; docs/types.md has the types that take it'
        ))

    >>> misfit_refusal({'schema': 'public', 'table': 'orders'}, 'tags', 'array<int> from array') == ''
    True
-#}
{%- macro misfit_refusal(captured, name, type) -%}
    {%- set spark_type = type.partition(' from ')[0] -%}
    {%- set table = (captured.schema ~ '.' if captured.schema else '') ~ captured.table -%}
    {%- set told = table ~ ': column ' ~ name ~ ' is ' ~ type ~ ' in its history model' -%}
    {%- if spark_type != 'string' and '<' not in spark_type -%}
        when decoded.{{ quoted(name) }} is null and left(raw.{{ quoted(name) }}, 1) in ('{', '[')
            then raise_error(concat(
                {{ string_literal(told ~ ', and message ') }}, delivery,
                ' holds an object or a list; docs/types.md has the types that take it'
            ))
    {%- endif -%}
{%- endmacro -%}
