{#- Those of some names that fit one of some patterns, in which * stands for any text. -#}
{%- macro matching(patterns, names) -%}
    {%- set expressions = [] -%}
    {%- for pattern in patterns -%}
        {%- do expressions.append(modules.re.escape(pattern) | replace('\\*', '.*')) -%}
    {%- endfor -%}
    {%- set found = [] -%}
    {%- for name in names if modules.re.fullmatch(expressions | join('|'), name) -%}
        {%- do found.append(name) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro -%}
