{#-
    What sentences call a held transaction or snapshot: an id that begins with the word is that of a snapshot.

    >>> shown_transaction('id')
    case when startswith(id, 'snapshot ') then id else concat('transaction ', id) end
-#}
{%- macro shown_transaction(transaction_id) -%}
    case when startswith({{ transaction_id }}, 'snapshot ') then {{ transaction_id }} else concat('transaction ', {{ transaction_id }}) end
{%- endmacro -%}
