{#-
    A position as people read it: a number without the zeros that pad it. An LSN in hexadecimal keeps its zeros, so that
    it is found in the source.

    >>> shown_position('position')
    regexp_replace(position, '(^|/|: )0+(?=[0-9]+([+/]|$))', '$1')
-#}
{%- macro shown_position(position) -%}
    regexp_replace({{ position }}, '(^|/|: )0+(?=[0-9]+([+/]|$))', '$1')
{%- endmacro -%}
