{#-
    The text of a number from the base64 of its integer in two's complement and the number of digits after the point.

    >>> pointed_unscaled('total', '2') | replace(pointed_number('n', '2'), '...') | replace(unscaled_integer('h'), '...')
    element_at(transform(
        array(hex(try_to_binary(total, 'base64'))),
        h -> element_at(transform(array(...), n -> ...), 1)
    ), 1)
-#}
{%- macro pointed_unscaled(base64, scale) -%}
    {#- The lambdas name what would otherwise be written, and read, many times. -#}
    {%- set integer = unscaled_integer('h') -%}
    {%- set number = pointed_number('n', scale) -%}
    element_at(transform(
        array(hex(try_to_binary({{ base64 }}, 'base64'))),
        h -> element_at(transform(array({{ integer }}), n -> {{ number }}), 1)
    ), 1)
{%- endmacro -%}
