{#-
    Overrides dbt's, which knows its own materialization only: true when the table is there and the run continues
    a published cut.
-#}
{%- macro is_incremental() -%}
    {%- if not execute or model.config.materialized not in ['append_by_cut', 'row_history'] -%}
        {{- return(false) -}}
    {%- endif -%}
    {{- return(load_relation(this) is not none and candidate().starting_cut_id > 0) -}}
{%- endmacro -%}
