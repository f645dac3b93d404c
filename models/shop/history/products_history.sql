{%- set captured = {
    'sources': ['shop'],
    'schema': 'public',
    'table': 'products',
    'truncate': 'apply',
} -%}
{{ config(
    materialized='row_history',
    meta={'captured': captured, 'public_name': 'products'}
) }}

{{ row_history(
    captured=captured,
    columns={
        'sku': 'string',
        'name': 'string',
        'price': 'decimal(10,2)',
        'stock': 'int',
        'made': 'int',
        'attrs': 'string',
    }
) }}
