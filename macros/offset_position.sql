{#-
    An offset as a position.

    >>> offset_position('17')
    lpad(cast(17 as string), 20, '0')
-#}
{%- macro offset_position(offset) -%}
    lpad(cast({{ offset }} as string), 20, '0')
{%- endmacro -%}
