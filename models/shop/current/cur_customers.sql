{{ config(materialized='current_rows') }}

with

version as (

    select * from {{ ref('customers_history') }}

)

select
    -- payload
    id,
    email,
    name,
    tier,
    balance,
    created_at,
    updated_at,

    -- provenance
    _change
from version
where _valid_to is null
