{#-
    Whether a log_position, or the log in it, is of MySQL's GTIDs: it has the server's UUID, behind the epoch if
    there is one.

    >>> is_gtid('log_position')
    coalesce(log_position like '%________-____-____-____-____________%', false)
-#}
{%- macro is_gtid(log) -%}
    coalesce({{ log }} like '%________-____-____-____-____________%', false)
{%- endmacro -%}
