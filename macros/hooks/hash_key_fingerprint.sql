{#- Tells the key of hashes from other keys; empty where nothing is hashed. The session has it from `flatten`. -#}
{%- macro hash_key_fingerprint() -%}
    {%- if var('hashed') -%}
        {{- return(run_query('set `spark.dbt_debezium.hashes`').rows[0][1]) -}}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro -%}
