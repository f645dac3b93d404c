{#-
    The type of a column without the word that it has a default.

    >>> without_default('sent_type')
    replace(sent_type, ' with default', '')
-#}
{%- macro without_default(sent_type) -%}
    replace({{ sent_type }}, ' with default', '')
{%- endmacro -%}
