{#-
    A captured table as people read it.

    >>> full_table_name({'schema': 'public', 'table': 'orders'})
    public.orders
-#}
{%- macro full_table_name(captured) -%}
    {{ captured.schema ~ '.' if captured.schema }}{{ captured.table }}
{%- endmacro -%}
