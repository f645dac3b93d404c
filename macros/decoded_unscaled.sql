{#-
    A decimal, or its text, from the base64 of its integer in two's complement and the number of digits after the
    point, as Kafka Connect sends it.

    >>> decoded_unscaled('total', 'string', 2) == pointed_unscaled('total', 2)
    True

    >>> decoded_unscaled('total', 'decimal(12,2)', 2) | replace(unscaled_integer("hex(try_to_binary(total, 'base64'))"), '...')
    try_cast(concat(..., 'E-2') as decimal(12,2))

    >>> decoded_unscaled('total', 'decimal(38,0)', '-2147483647')
    cast(null as decimal(38,0))
-#}
{%- macro decoded_unscaled(text, spark_type, scale) -%}
    {#- A number with so many zeros can neither be written nor cast: Spark fails at it. -#}
    {%- if not -400 <= scale | int <= 20000 -%}
        cast(null as {{ spark_type }})
    {%- elif spark_type == 'string' -%}
        {{- pointed_unscaled(text, scale) -}}
    {%- elif scale | int > (spark_type ~ ',0').split(',')[1].split(')')[0] | int -%}
        {{- decoded_decimal(pointed_unscaled(text, scale), spark_type) -}}
    {%- else -%}
        {%- set integer = unscaled_integer('hex(try_to_binary(' ~ text ~ ", 'base64'))") -%}
        try_cast(concat({{ integer }}, 'E{{ -(scale | int) }}') as {{ spark_type }})
    {%- endif -%}
{%- endmacro -%}
