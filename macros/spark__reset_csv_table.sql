{#- Overrides dbt-spark's, which drops the table first. -#}
{%- macro spark__reset_csv_table(model, full_refresh, old_relation, agate_table) -%}
    {{- return(create_csv_table(model, agate_table)) -}}
{%- endmacro -%}
