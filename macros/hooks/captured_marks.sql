{#- The marks of all history models, as literals of SQL; without models one that none has. -#}
{%- macro captured_marks() -%}
    {%- set marks = [] -%}
    {%- for node in (graph.nodes.values() if execute else []) if node.config.get('meta', {}).get('captured') -%}
        {%- do marks.append("'" ~ captured_mark(node.config.meta.captured) ~ "'") -%}
    {%- endfor -%}
    {{- marks | sort | join(', ') or "''" -}}
{%- endmacro -%}
