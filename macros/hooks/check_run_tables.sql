{#- Refuses to publish what a run may have read from a table or view that another run has replaced meanwhile. -#}
{%- macro check_run_tables(results) -%}
    {%- set replaced = replaced_table(results) -%}
    {%- if replaced -%}{%- do exceptions.raise_compiler_error(replaced) -%}{%- endif -%}
{%- endmacro -%}
