{#-
    The epoch that a position begins with (int_epoch), which is empty until an operator has declared one.

    >>> epoch_of('position')
    regexp_extract(position, '^(since [-0-9]{10} [:0-9]{8}: )?', 0)
-#}
{%- macro epoch_of(position) -%}
    regexp_extract({{ position }}, '^(since [-0-9]{10} [:0-9]{8}: )?', 0)
{%- endmacro -%}
