{#- Overrides dbt-spark's, which doubles no backslash in a comment and no backtick in a name. -#}
{%- macro spark__alter_column_comment(relation, column_dict) -%}
    {%- if config.get('file_format') in ['delta', 'hudi', 'iceberg'] -%}
        {%- for name, column in column_dict.items() -%}
            {%- do run_query(
                'alter table ' ~ relation ~ (' alter' if relation.is_iceberg else ' change') ~ ' column '
                ~ quoted(name) ~ ' comment ' ~ string_literal(column['description'])
            ) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
