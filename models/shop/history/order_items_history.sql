{%- set captured = {
    'sources': ['shop'],
    'schema': 'public',
    'table': 'order_items',
    'truncate': 'apply',
} -%}
{{ config(
    materialized='row_history',
    meta={'captured': captured, 'public_name': 'order_items'}
) }}

{{ row_history(
    captured=captured,
    columns={
        'order_id': 'bigint',
        'line_no': 'smallint',
        'sku': 'string',
        'qty': 'int',
        'unit_price': 'decimal(10,2)',
    }
) }}
