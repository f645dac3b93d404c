{#-
    A column name as an SQL identifier, whatever the name holds.

    >>> quoted('order')
    `order`

    >>> quoted('a`b')
    `a``b`
-#}
{%- macro quoted(name) -%}
    `{{ name | replace('`', '``') }}`
{%- endmacro -%}
