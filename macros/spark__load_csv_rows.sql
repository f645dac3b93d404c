{#- Overrides dbt-spark's: spark__create_csv_table has filled the table. -#}
{%- macro spark__load_csv_rows(model, agate_table) -%}
    {{- return('') -}}
{%- endmacro -%}
