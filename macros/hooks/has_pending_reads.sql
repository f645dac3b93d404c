{#-
    True when a snapshot's read is among the messages of this run. Most runs have none, and what proves snapshots costs
    as much without them.
-#}
{%- macro has_pending_reads() -%}
    {%- if not execute or not load_relation(ref('int_pending_read')) -%}
        {{- return(true) -}}
    {%- endif -%}
    {{- return(run_query('select 1 from ' ~ ref('int_pending_read') ~ ' limit 1').rows | length > 0) -}}
{%- endmacro -%}
