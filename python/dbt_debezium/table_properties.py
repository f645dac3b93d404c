"""What the tables that landings write have in common."""

METADATA_PROPERTIES = """
    -- Each commit leaves a metadata file behind.
    'write.metadata.delete-after-commit.enabled' = 'true',
    'write.metadata.previous-versions-max' = '20',
    -- And a manifest. Each that a query opens costs it 5 ms.
    'commit.manifest.min-count-to-merge' = '5',
    'dbt_debezium.read_by' = 'queries'
"""
"""Of each table that landings write; the macro metadata_properties has those of the others."""
