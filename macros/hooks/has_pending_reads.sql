{#-
    True unless no snapshot's read, new or held, is among the messages of this run. Then int_snapshot is empty, and Spark
    need not plan and run what proves it, which costs as much without a read. Asked once a run.
-#}
{%- macro has_pending_reads() -%}
    {#- dbt finds what a model reads only outside of conditions. -#}
    {%- set read = ref('int_pending_read') -%}
    {%- if not execute or not load_relation(read) -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- if 'debezium_has_pending_reads' not in graph -%}
        {%- set found = run_query('select 1 from ' ~ read ~ ' limit 1').rows | length > 0 -%}
        {%- do graph.update({'debezium_has_pending_reads': found}) -%}
    {%- endif -%}
    {{- return(graph['debezium_has_pending_reads']) -}}
{%- endmacro -%}
