{#- Overrides dbt-spark's: a table has metadata_properties too, and names the lease of its run. -#}
{%- macro spark__tblproperties_clause() -%}
    {%- set own = [] -%}
    {%- for name, value in (config.get('tblproperties') or {}).items() -%}
        {%- do own.append(string_literal(name) ~ ' = ' ~ string_literal(value | string) ~ ', ') -%}
    {%- endfor -%}
    tblproperties (
        {{ own | join }}'dbt_debezium.lease' = '{{ lease_token() }}', {{ metadata_properties(read_by='runs') }}
    )
{%- endmacro -%}
