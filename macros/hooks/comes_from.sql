{#-
    run_has, in a model of append_by_cut that has rows of these kinds alone: a run that has none leaves its table alone.
-#}
{%- macro comes_from() -%}
    {%- set has_some = run_has(*varargs) -%}
    {%- if execute -%}
        {%- do graph.setdefault('debezium_comes_from', {}).update({this | string: has_some}) -%}
    {%- endif -%}
    {{- return(has_some) -}}
{%- endmacro -%}
