{#-
    Properties of an Iceberg table of ours. Its old metadata files go by themselves: each commit writes one more. Who
    reads it says how long maintenance keeps what a later commit has replaced: runs, or queries too.
-#}
{%- macro metadata_properties(read_by='queries') -%}
    'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.previous-versions-max' = '20',
    'dbt_debezium.read_by' = '{{ read_by }}'
{%- endmacro -%}
