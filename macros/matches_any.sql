{#-
    True where a column matches one of some patterns, in which * stands for any text.

    >>> matches_any('source', ['shop_*', 'crm'])
    coalesce(rlike(source, '(?s)^(\\Qshop_\\E.*|\\Qcrm\\E)$'), false)

    >>> matches_any('source', [])
    false
-#}
{%- macro matches_any(column, patterns) -%}
    {%- set choices = [] -%}
    {%- for pattern in patterns -%}
        {%- set parts = [] -%}
        {%- for part in pattern.split('*') -%}
            {%- set escaped = part | replace('\\E', '\\E\\\\E\\Q') -%}
            {%- do parts.append('\\Q' ~ escaped ~ '\\E' if part else '') -%}
        {%- endfor -%}
        {%- do choices.append(parts | join('.*')) -%}
    {%- endfor -%}
    {%- if choices -%}
        coalesce(rlike({{ column }}, {{ string_literal('(?s)^(' ~ choices | join('|') ~ ')$') }}), false)
    {%- else -%}
        false
    {%- endif -%}
{%- endmacro -%}
