{#-
    A query without rows, for a model whose run has none (run_has). It names the types, which a table takes from it.

    >>> no_rows({'source': 'string', 'offset': 'bigint'})
    select
        cast(null as string) as `source`,
        cast(null as bigint) as `offset`
    where false
-#}
{%- macro no_rows(columns) -%}
    select
    {%- for name, type in columns.items() %}
        cast(null as {{ type }}) as {{ quoted(name) }}{{ ',' if not loop.last }}
    {%- endfor %}
    where false
{%- endmacro -%}
