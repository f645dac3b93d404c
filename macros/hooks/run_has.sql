{#-
    Whether this run has rows of one of the named rare_kinds. Where it has none, what would follow from them is left out,
    as Spark takes as long to plan that and to find nothing (decision 21). It stands in a condition of Jinja around a part
    of a query, or in a condition of SQL, where it is True or False. Asked once a run. A view must not ask, as it would
    keep the answer.
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
    {%- if 'debezium_rare_kinds' not in graph -%}
        {%- set columns = [] -%}
        {%- for name, condition in kinds.items() -%}
            {%- do columns.append('coalesce(' ~ condition ~ ', false) as ' ~ name) -%}
        {%- endfor -%}
        {%- set found = run_query('select ' ~ columns | join(', ') ~ ' from ' ~ staged).rows[0] -%}
        {%- do graph.update({'debezium_rare_kinds': dict(found.items())}) -%}
    {%- endif -%}
    {%- for kind in varargs if graph['debezium_rare_kinds'][kind] -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro -%}
