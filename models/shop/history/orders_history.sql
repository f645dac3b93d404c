{%- set captured = {
    'sources': ['shop'],
    'schema': 'public',
    'table': 'orders',
    'truncate': 'apply',
} -%}
{{ config(
    materialized='row_history',
    meta={'captured': captured, 'public_name': 'orders'}
) }}

{{ row_history(
    captured=captured,
    columns={
        'id': 'bigint',
        'customer_id': 'bigint',
        'status': 'string',
        'total': 'decimal(12,2)',
        'placed_at': 'timestamp',
        'note': 'string',
    }
) }}
