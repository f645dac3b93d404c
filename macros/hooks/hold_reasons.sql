{#-
    Reasons to hold, which a project may refuse: the session has them from `functions.judge`. None where a project names
    none, or while dbt only parses it.
-#}
{%- macro hold_reasons() -%}
    {%- if execute and var('refused_holds') -%}
        {{- return(run_query('set `spark.dbt_debezium.hold_reasons`').rows[0][1].split(' ')) -}}
    {%- endif -%}
    {{- return([]) -}}
{%- endmacro -%}
