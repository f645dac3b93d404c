{#-
    A text as an SQL literal, whatever the text holds; null for none, as the schema of a MySQL table is.

    >>> string_literal("O'Brien")
    'O\'Brien'

    >>> string_literal('a\\b')
    'a\\b'

    >>> string_literal(none)
    null
-#}
{%- macro string_literal(text) -%}
    {%- if text is none -%}
        null
    {%- else -%}
        '{{ text | replace('\\', '\\\\') | replace("'", "\\'") }}'
    {%- endif -%}
{%- endmacro -%}
