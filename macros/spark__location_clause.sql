{#- Overrides dbt-spark's, which writes the place as it is between quotes. -#}
{%- macro spark__location_clause() -%}
    {%- if config.get('location_root') is not none -%}
        location {{ string_literal(config.get('location_root') ~ '/' ~ model.alias) }}
    {%- endif -%}
{%- endmacro -%}
