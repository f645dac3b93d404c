with

marked_topic as (

    select
        source,
        topic
    from {{ ref('stg_transaction_marker') }}
    group by source, topic

)

-- BEGIN and END of one topic can be of several databases of a server. A copy of the topic, as
-- MirrorMaker makes them, has other offsets.
select
    -- identity
    marked.source,
    progress.topic,
    progress.partition,

    -- what has landed
    progress.known_ranges,
    progress.unplaced_offsets
from {{ ref('partition_progress') }} as progress
inner join marked_topic as marked
    on progress.topic = marked.topic
inner join {{ ref('int_transaction_topic') }} as transaction_topic
    on progress.topic = transaction_topic.topic
where progress.cut_id = {{ candidate('cut_id') }} and transaction_topic.is_leading
