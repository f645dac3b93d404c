{#- Prints a line, so that no name in it looks like a line of its own. The plugin keeps terminals from obeying the rest. -#}
{%- macro print_line(line) -%}
    {%- do print(line | replace('\n', '\\n')) -%}
{%- endmacro -%}
