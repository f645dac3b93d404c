{#-
    Whether this run has rows of one of the named rare_kinds. Where it has none, what would follow from them is left out,
    as Spark takes as long to plan that and to find nothing (decision 21). It stands in a condition of Jinja around a part
    of a query, or in a condition of SQL, where it is True or False. A view must not ask, as it would keep the answer.
-#}
{%- macro run_has() -%}
    {%- set kinds = rare_kinds() -%}
    {%- for kind in varargs if kind not in kinds -%}
        {%- do exceptions.raise_compiler_error(
            "run_has: '" ~ kind ~ "' is not looked for; known: " ~ kinds | join(', ')
        ) -%}
    {%- endfor -%}
    {#- dbt finds what a model reads only outside of conditions; and what its materialization asks, only if the model has
        asked it too. -#}
    {%- set staged = ref('stg_message') -%}
    {%- if not execute or not load_relation(staged) -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set found = kinds_found(staged) -%}
    {%- for kind in varargs if found[kind] -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro -%}
