{#-
    Whether this run has left a history as the published one has it, so that what is asked of its rows was asked when
    they were new. False outside of a run that builds it, as in `dbt test`.
-#}
{%- macro is_untouched(history) -%}
    {{- return(graph.get('debezium_histories', {}).get(history) == 'untouched') -}}
{%- endmacro -%}
