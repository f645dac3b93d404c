{#-
    Overrides dbt-spark's, by which a view has a comment for each column, and which doubles no backslash.

    >>> get_column_comment_sql("it's", {"it's": {'description': "\\' --"}})
    `it's` comment '\\\' --'

    >>> get_column_comment_sql('id', {})
    `id`
-#}
{%- macro get_column_comment_sql(column_name, column_dict) -%}
    {%- set description = column_dict.get(column_name, {}).get('description') -%}
    {{ quoted(column_name) }}{{ ' comment ' ~ string_literal(description) if description }}
{%- endmacro -%}
