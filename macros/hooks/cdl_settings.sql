{#- What the project says of its CDL jobs, as the SQL literal that flatten_message takes. -#}
{%- macro cdl_settings() -%}
    {{ string_literal(tojson({
        'cdl_sources': var('cdl_sources'),
        'cdl_heartbeat_tables': var('cdl_heartbeat_tables')
    })) }}
{%- endmacro -%}
