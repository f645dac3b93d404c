{#- What the project says of its connectors, as the SQL literal that flatten_message takes. -#}
{%- macro connector_settings() -%}
    {{ string_literal(tojson({
        'cdl_sources': var('cdl_sources'),
        'cdl_heartbeat_tables': var('cdl_heartbeat_tables'),
        'generic_sources': var('generic_sources'),
        'transaction_topics': var('transaction_topics'),
        'hashed': var('hashed'),
        'unavailable_value_placeholder': var('unavailable_value_placeholder')
    })) }}
{%- endmacro -%}
