with

counted_table as (

    select
        source,
        commit_position,
        explode(miscounted_tables) as miscounted
    from {{ ref('int_transaction') }}
    where decision is null

),

landed_table as (

    select
        source,
        data_collection
    from {{ ref('stg_change_event') }}
    group by source, data_collection

),

landed_topic as (

    select
        topic_source as source,
        topic
    from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('cut_id') }}
    group by topic_source, topic

)

-- Messages that are routed to a topic of another name show their table themselves.
select
    -- identity
    counted.source,
    counted.miscounted.data_collection,

    -- position
    max(counted.commit_position) as last_commit_position
from counted_table as counted
left anti join landed_table
    on
        counted.source = landed_table.source
        and counted.miscounted.data_collection = landed_table.data_collection
left anti join landed_topic
    on
        counted.source = landed_topic.source
        and endswith(
            landed_topic.topic, {{ table_suffix('counted.miscounted.data_collection') }}
        )
where counted.miscounted.received_count = 0
group by counted.source, counted.miscounted.data_collection
