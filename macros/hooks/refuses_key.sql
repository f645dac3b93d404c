{#- Whether a history refuses a change of its table's key: rows that changed under both would stand twice. -#}
{%- macro refuses_key(captured, key) -%}
    {{- return(
        not captured.identity
        and not captured.is_keyless
        and captured.schema_changes != 'ignore'
        and matching(captured.sources, [key.source]) | length > 0
    ) -}}
{%- endmacro -%}
