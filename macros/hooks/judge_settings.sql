{#- What the project says of its sources, as the SQL literal that judge_sources takes. -#}
{%- macro judge_settings() -%}
    {{ string_literal(tojson({
        'landing_reaches_the_end': var('landing_reaches_the_end'),
        'sources_without_truncate': var('sources_without_truncate'),
        'watermark_sources': var('watermark_sources'),
        'refused_proofs': var('refused_proofs'),
        'quiet_partition_seconds': var('quiet_partition_seconds'),
        'not_ingested_tables': var('not_ingested_tables'),
    })) }}
{%- endmacro -%}
