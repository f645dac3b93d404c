{#-
    Whether this run has no rows of a kind (run_has) from which all rows of a model come. The model then says so in a
    plan of one line, which needs the table that an earlier run has made for the types of the columns. A full refresh
    makes it anew, as the models may have other columns now.
-#}
{%- macro is_without(kind) -%}
    {{- return(not run_has(kind) and not should_full_refresh() and load_relation(this) is not none) -}}
{%- endmacro -%}
