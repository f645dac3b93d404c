{#-
    Whether a log_position, or the log in it, is of GTIDs, whose numbers follow each other: it has the UUID of a MySQL
    server or a domain of MariaDB, after the epoch if there is one.

    >>> is_gtid('log_position')
    coalesce(
        log_position like '%________-____-____-____-____________%' or log_position like '%domain-%',
        false
    )
-#}
{%- macro is_gtid(log) -%}
    coalesce(
        {{ log }} like '%________-____-____-____-____________%' or {{ log }} like '%domain-%',
        false
    )
{%- endmacro -%}
