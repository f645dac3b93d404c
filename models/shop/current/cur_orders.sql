{{ config(materialized='current_rows') }}

with

version as (

    select * from {{ ref('orders_history') }}

)

select
    -- payload
    id,
    customer_id,
    status,
    total,
    placed_at,
    note,

    -- provenance
    _change
from version
where _valid_to is null
