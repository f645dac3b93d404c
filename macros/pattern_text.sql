{#-
    Patterns, in which * stands for any text, as the text of one regular expression.

    >>> pattern_text(['shop_*', 'crm'])
    (?s)^(\Qshop_\E.*|\Qcrm\E)$
-#}
{%- macro pattern_text(patterns) -%}
    {%- set choices = [] -%}
    {%- for pattern in patterns -%}
        {%- set parts = [] -%}
        {%- for part in pattern.split('*') -%}
            {%- set escaped = part | replace('\\E', '\\E\\\\E\\Q') -%}
            {%- do parts.append('\\Q' ~ escaped ~ '\\E' if part else '') -%}
        {%- endfor -%}
        {%- do choices.append(parts | join('.*')) -%}
    {%- endfor -%}
    (?s)^({{ choices | join('|') }})$
{%- endmacro -%}
