{#-
    An unsigned 64-bit integer that was sent as a signed one: what is below zero has wrapped around.

    >>> unsigned_integer('views')
    cast(if(try_cast(views as bigint) < 0, 18446744073709551616bd, 0) + try_cast(views as bigint) as decimal(20,0))
-#}
{%- macro unsigned_integer(text) -%}
    cast(if(try_cast({{ text }} as bigint) < 0, 18446744073709551616bd, 0) + try_cast({{ text }} as bigint) as decimal(20,0))
{%- endmacro -%}
