{#- The token of the lease that this run holds, which names the run. The plugin sets it when it takes the lease. -#}
{%- macro lease_token() -%}
    {%- if 'debezium_lease' not in graph -%}
        {%- set name = 'spark.sql.iceberg.snapshot-property.dbt-debezium.lease' -%}
        {%- do graph.update({'debezium_lease': run_query('set `' ~ name ~ '`').rows[0][1]}) -%}
    {%- endif -%}
    {{- return(graph['debezium_lease']) -}}
{%- endmacro -%}
