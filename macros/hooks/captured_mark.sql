{#- A mark of what a history model says of its table, beside the columns. -#}
{%- macro captured_mark(captured) -%}
    {{- return(local_md5(tojson(captured, sort_keys=True))) -}}
{%- endmacro -%}
