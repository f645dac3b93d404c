{#-
    What a run may have read from a table or view that another run has replaced meanwhile, as a sentence; none if there
    is no such table. These tables hold the rows of one run. Iceberg lets any run replace them, however late (decision
    18), so each names the lease of its run.
-#}
{%- macro replaced_table(results) -%}
    {%- set tables, replaced = [], [] -%}
    {%- for result in results if result.status == 'success' and result.node.schema == target.schema -%}
        {%- if result.node.config.materialized == 'table' -%}
            {%- do tables.append(result.node.alias) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if tables -%}
        {%- for row in run_query("show table extended in " ~ target.schema ~ " like '" ~ tables | join('|') ~ "'").rows
            if 'dbt_debezium.lease=' ~ lease_token() not in shown_properties(row[3]) -%}
            {%- do replaced.append(row[1]) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if replaced -%}
        {{- return(
            replaced[0] ~ ': another run has written to this table since this run began, so this run publishes nothing; '
            ~ 'run it again, once no other run works'
        ) -}}
    {%- endif -%}
{%- endmacro -%}
