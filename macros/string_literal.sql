{#-
    A text as an SQL literal, whatever the text holds.

    >>> string_literal("O'Brien")
    'O\'Brien'

    >>> string_literal('a\\b')
    'a\\b'
-#}
{%- macro string_literal(text) -%}
    '{{ text | replace('\\', '\\\\') | replace("'", "\\'") }}'
{%- endmacro -%}
