{#-
    Texts as an SQL array, also where there are none.

    >>> string_array(['id', "O'Brien"])
    cast(array('id', 'O\'Brien') as array<string>)

    >>> string_array([])
    cast(array() as array<string>)
-#}
{%- macro string_array(texts) -%}
    cast(array({% for text in texts %}{{ string_literal(text) }}{{ ', ' if not loop.last }}{% endfor %}) as array<string>)
{%- endmacro -%}
