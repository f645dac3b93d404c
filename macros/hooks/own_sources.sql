{#- Those of some sources whose tables a history model is there for. -#}
{%- macro own_sources(captured, sources) -%}
    {%- set patterns = [] -%}
    {%- for pattern in captured.sources -%}
        {%- do patterns.append(modules.re.escape(pattern) | replace('\\*', '.*')) -%}
    {%- endfor -%}
    {%- set own = [] -%}
    {%- for source in sources if modules.re.fullmatch(patterns | join('|'), source) -%}
        {%- do own.append(source) -%}
    {%- endfor -%}
    {{- return(own) -}}
{%- endmacro -%}
