{{ config(materialized='current_rows') }}

with

version as (

    select * from {{ ref('payments_history') }}

)

select
    -- payload
    id,
    order_id,
    amount,
    method,
    paid_at,

    -- provenance
    _change
from version
where _valid_to is null
