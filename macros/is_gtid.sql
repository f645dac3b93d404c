{#-
    Whether a log_position, or the log in it, is of MySQL's GTIDs: it begins with the server's UUID.

    >>> is_gtid('log_position')
    coalesce(log_position like '________-____-____-____-____________%', false)
-#}
{%- macro is_gtid(log) -%}
    coalesce({{ log }} like '________-____-____-____-____________%', false)
{%- endmacro -%}
