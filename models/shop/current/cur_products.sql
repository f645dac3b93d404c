{{ config(materialized='current_rows') }}

with

version as (

    select * from {{ ref('products_history') }}

)

select
    -- payload
    sku,
    name,
    price,
    stock,
    made,
    attrs,

    -- provenance
    _change
from version
where _valid_to is null
