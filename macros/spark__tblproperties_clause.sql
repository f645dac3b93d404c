{#- Overrides dbt-spark's, so that every table has metadata_properties beside its own. -#}
{%- macro spark__tblproperties_clause() -%}
    {%- set own = [] -%}
    {%- for name, value in (config.get('tblproperties') or {}).items() -%}
        {%- do own.append("'" ~ name ~ "' = '" ~ value ~ "', ") -%}
    {%- endfor -%}
    tblproperties ({{ own | join }}{{ metadata_properties(read_by='runs') }})
{%- endmacro -%}
