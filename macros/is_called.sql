{#-
    Whether a name that a message gives a table is that of a schema and a table, any of which may have dots. In Oracle
    and SQL Server the name begins with the database.

    >>> is_called('data_collection', 'schema_name', 'table_name')
    endswith(concat('.', data_collection), concat('.', concat_ws('.', schema_name, table_name)))
-#}
{%- macro is_called(data_collection, schema_name, table_name) -%}
    endswith(concat('.', {{ data_collection }}), concat('.', concat_ws('.', {{ schema_name }}, {{ table_name }})))
{%- endmacro -%}
