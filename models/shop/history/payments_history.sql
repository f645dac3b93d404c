{%- set captured = {
    'sources': ['shop'],
    'schema': 'public',
    'table': 'payments',
    'truncate': 'apply',
} -%}
{{ config(
    materialized='row_history',
    meta={'captured': captured, 'public_name': 'payments'}
) }}

{{ row_history(
    captured=captured,
    columns={
        'id': 'string',
        'order_id': 'bigint',
        'amount': 'decimal(12,2)',
        'method': 'string',
        'paid_at': 'timestamp',
    }
) }}
