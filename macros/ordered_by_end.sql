{#-
    Whether a connector's END says no position, so that the order of END in the transaction topic is that of the
    transactions (S2). A position is then END's offset, padded so that it compares as text.

    >>> ordered_by_end('connector')
    connector in ('mysql', 'mariadb', 'oracle', 'generic')
-#}
{%- macro ordered_by_end(connector) -%}
    {{ connector }} in ('mysql', 'mariadb', 'oracle', 'generic')
{%- endmacro -%}
