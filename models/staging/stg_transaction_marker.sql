with

message as (

    select * from {{ ref('stg_message') }}

)

select
    -- delivery
    landing_id,
    topic,
    partition,
    `offset`,

    -- where it comes from
    source,

    -- position
    marker,
    transaction_id,
    commit_position,
    committed_at,

    -- payload
    event_count,
    collection_counts
from message
where kind = 'transaction_marker'
