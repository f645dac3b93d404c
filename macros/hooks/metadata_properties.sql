{#-
    Properties of an Iceberg table of ours. Its old metadata files go by themselves: each commit writes one more. Of
    manifests each commit writes one too; five are joined to one, as each that a query opens costs it 5 ms. Who reads
    the table says how long maintenance keeps what a later commit has replaced: runs, or queries too.
-#}
{%- macro metadata_properties(read_by='queries') -%}
    'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.previous-versions-max' = '20',
    'commit.manifest.min-count-to-merge' = '5',
    'dbt_debezium.read_by' = '{{ read_by }}'
{%- endmacro -%}
