{#-
    True unless no change among the messages of this run is without a transaction (stg_change_group), so that views over
    all changes are spared the search.
-#}
{%- macro has_change_groups() -%}
    {%- if not execute or not load_relation(ref('stg_change_group')) -%}
        {{- return(true) -}}
    {%- endif -%}
    {{- return(run_query('select 1 from ' ~ ref('stg_change_group') ~ ' limit 1').rows | length > 0) -}}
{%- endmacro -%}
