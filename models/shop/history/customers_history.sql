{%- set captured = {
    'sources': ['shop'],
    'schema': 'public',
    'table': 'customers',
    'truncate': 'apply',
} -%}
{{ config(
    materialized='row_history',
    meta={'captured': captured, 'public_name': 'customers'}
) }}

{{ row_history(
    captured=captured,
    columns={
        'id': 'bigint',
        'email': 'string',
        'name': 'string',
        'tier': 'string',
        'balance': 'decimal(14,2)',
        'created_at': 'timestamp',
        'updated_at': 'timestamp_ntz from io.debezium.time.Timestamp',
    }
) }}
