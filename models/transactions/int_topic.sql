with

message as (

    select * from {{ ref('stg_message') }}

),

known_source as (

    select source from message
    where source is not null and kind != 'quarantined'
    group by source
    union distinct
    select source from {{ ref('int_starting_commit') }}

),

-- A topic that no readable message of this run places belongs to the source with the longest name
-- before a dot.
topic as (

    select
        topic,
        max_by(source, struct(landing_id, `offset`, partition)) filter (
            where source is not null and kind != 'quarantined'
        ) as own_source,
        -- What cannot be read may name anything.
        max_by(source, struct(landing_id, `offset`, partition)) filter (
            where source is not null
        ) as said_source
    from message
    group by topic

)

select
    -- identity
    topic.topic,

    -- where it comes from
    coalesce(
        topic.own_source,
        max_by(known_source.source, length(known_source.source)),
        topic.said_source,
        regexp_extract(topic.topic, '^(.+?)([.][^.]*){0,2}$', 1)
    ) as source
from topic
left join known_source
    on topic.own_source is null and startswith(topic.topic, concat(known_source.source, '.'))
group by topic.topic, topic.own_source, topic.said_source
