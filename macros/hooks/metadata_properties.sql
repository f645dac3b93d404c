{#- Properties of an Iceberg table that keep its metadata files few: each commit writes one more. -#}
{%- macro metadata_properties() -%}
    'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.previous-versions-max' = '20'
{%- endmacro -%}
