{#-
    True where a column matches one of some patterns, in which * stands for any text.

    >>> matches_any('source', ['shop_*', 'crm'])
    coalesce(rlike(source, '(?s)^(\\Qshop_\\E.*|\\Qcrm\\E)$'), false)

    >>> matches_any('source', [])
    false
-#}
{%- macro matches_any(column, patterns) -%}
    {%- if patterns -%}
        coalesce(rlike({{ column }}, {{ string_literal(pattern_text(patterns)) }}), false)
    {%- else -%}
        false
    {%- endif -%}
{%- endmacro -%}
