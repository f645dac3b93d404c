{#-
    Overrides dbt's, which knows its own materialization only, and answers for that: true when the table is there, was
    built under the same model_mark, and the run continues a published cut.
-#}
{%- macro is_incremental() -%}
    {%- if not execute -%}
        {{- return(false) -}}
    {%- elif model.config.materialized not in ['append_by_cut', 'row_history'] -%}
        {{- return(dbt.is_incremental()) -}}
    {%- endif -%}
    {%- set built = load_relation(this) -%}
    {%- set mark = graph.get('debezium_models', {}).get(this | string, {}).get('mark', '') -%}
    {%- set said = shown_properties(built.information) if built is not none -%}
    {{- return(built is not none and mark in said and candidate('starting_cut_id') > 0) -}}
{%- endmacro -%}
