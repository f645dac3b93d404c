{#-
    Names of a relation's columns, in order. dbt-spark's get_columns_in_relation reads DESCRIBE, and takes a column
    whose name begins with # for the end of the list.
-#}
{%- macro column_names(relation) -%}
    {{- return(run_query('select * from ' ~ relation ~ ' limit 0').column_names | list) -}}
{%- endmacro -%}
