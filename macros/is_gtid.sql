{#-
    Whether a log, or a place in it, is one of GTIDs: their server's UUID names it.

    >>> is_gtid('log_position')
    coalesce(log_position like '________-____-____-____-____________%', false)
-#}
{%- macro is_gtid(log) -%}
    coalesce({{ log }} like '________-____-____-____-____________%', false)
{%- endmacro -%}
