{#-
    True unless no snapshot's read, new or held, is among the messages of this run. Then int_snapshot is empty, and Spark
    need not plan and run what proves it, which costs as much without a read.
-#}
{%- macro has_pending_reads() -%}
    {%- if not execute or not load_relation(ref('int_pending_read')) -%}
        {{- return(true) -}}
    {%- endif -%}
    {{- return(run_query('select 1 from ' ~ ref('int_pending_read') ~ ' limit 1').rows | length > 0) -}}
{%- endmacro -%}
