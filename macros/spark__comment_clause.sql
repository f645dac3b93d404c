{#-
    Overrides dbt-spark's, which doubles no backslash: a description that holds `\'` would end the literal, and what
    follows it would be SQL.
-#}
{%- macro spark__comment_clause() -%}
    {%- set docs = config.get('persist_docs') or {} -%}
    {%- if docs is not mapping -%}
        {%- do exceptions.raise_compiler_error(
            'persist_docs: ' ~ docs ~ ' is no mapping; write persist_docs: {relation: true}'
        ) -%}
    {%- elif docs.get('relation') -%}
        comment {{ string_literal(model.description) }}
    {%- endif -%}
{%- endmacro -%}
