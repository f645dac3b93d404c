{#-
    Whether no read of a snapshot waits in this run, so that a model of snapshots has no rows. It says so in a plan of
    one line, which needs the table that an earlier run has made for the types of the columns.
-#}
{%- macro is_without_reads() -%}
    {{- return(not has_pending_reads() and load_relation(this) is not none) -}}
{%- endmacro -%}
