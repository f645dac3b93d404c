{#-
    The tables that history models are there for, as an SQL relation: source_pattern (a regular expression),
    schema_name, table_name, has_identity (named in place of the message key). Without models it has one row, which fits no table.
-#}
{%- macro expected_tables() -%}
    {%- set rows = [] -%}
    {%- for node in (graph.nodes.values() if execute else []) -%}
        {%- set captured = node.config.get('meta', {}).get('captured') -%}
        {%- if captured -%}
            {%- do rows.append('(' ~ string_literal(pattern_text(captured.sources)) ~ ', '
                ~ string_literal(captured.schema) ~ ', ' ~ string_literal(captured.table) ~ ', '
                ~ (true if captured.identity else false) ~ ')') -%}
        {%- endif -%}
    {%- endfor -%}
    select * from values
        {{ rows | sort | join(',\n        ') or '(null, null, null, false)' }}
        as expected (source_pattern, schema_name, table_name, has_identity)
{%- endmacro -%}
