{{ config(materialized='current_rows') }}

with

version as (

    select * from {{ ref('order_items_history') }}

)

select
    -- payload
    order_id,
    line_no,
    sku,
    qty,
    unit_price,

    -- provenance
    _change
from version
where _valid_to is null
