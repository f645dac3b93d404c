with

-- What a run has decided stays: its commits are published under that source.
known_topic as (

    select
        topic,
        max(source_prefix) as source_prefix,
        sum(marker_count) as marker_count
    from (
        select
            topic,
            null as source_prefix,
            1 as marker_count
        from {{ ref('stg_message') }}
        where kind = 'transaction_marker'
        union all
        select
            topic,
            marker_source as source_prefix,
            0 as marker_count
        from {{ source('pointer', 'partition_progress') }}
        where cut_id = {{ candidate('starting_cut_id') }} and marker_source is not null
    )
    group by topic

)

select
    -- identity
    known.topic,

    -- where it comes from
    coalesce(
        {{ value_by_pattern('known.topic', var('transaction_topics')) }},
        known.source_prefix,
        known_prefix.source_prefix
    ) as source_prefix,

    -- counts
    known.marker_count
from known_topic as known
-- The name that Debezium gives by default.
left join {{ ref('int_known_prefix') }} as known_prefix
    on known.topic = concat(known_prefix.source_prefix, '.transaction')
