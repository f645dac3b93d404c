{#-
    What sentences call a held transaction or snapshot: an id that begins with the word is that of a snapshot,
    or of the messages with which an epoch begins.

    >>> shown_transaction('id')
    case when rlike(id, '^(snapshot|messages) ') then id else concat('transaction ', id) end
-#}
{%- macro shown_transaction(transaction_id) -%}
    case when rlike({{ transaction_id }}, '^(snapshot|messages) ') then {{ transaction_id }} else concat('transaction ', {{ transaction_id }}) end
{%- endmacro -%}
