{#-
    Whether no read of a snapshot waits in this run, so that a model of snapshots has no rows. It says so in a plan of
    one line, which needs the table that an earlier run has made for the types of the columns. A full refresh makes it
    anew, as the models may have other columns now.
-#}
{%- macro is_without_reads() -%}
    {{- return(not has_pending_reads() and not should_full_refresh() and load_relation(this) is not none) -}}
{%- endmacro -%}
