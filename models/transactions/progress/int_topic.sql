with

sent_source as (

    select
        topic,
        source,
        landing_id,
        kind != 'quarantined' as is_readable,
        max(`offset`) as last_offset
    from {{ ref('stg_message') }}
    where kind != 'transaction_marker'
    group by topic, source, landing_id, kind != 'quarantined'
    union all
    -- BEGIN and END name no source.
    select
        topic,
        coalesce(source_prefix, '') as source,
        -1 as landing_id,
        true as is_readable,
        -1 as last_offset
    from {{ ref('int_transaction_topic') }}
    where marker_count > 0

),

known_source as (

    select source from sent_source
    where source != '' and is_readable
    group by source
    union distinct
    select source from {{ ref('int_starting_commit') }}

),

-- A topic that no readable message of this run places belongs to the source with the longest name
-- before a dot, or between dots: MirrorMaker puts an alias before it.
topic as (

    select
        topic,
        max_by(source, struct(landing_id, last_offset, source)) filter (
            where source is not null and is_readable
        ) as own_source,
        -- What cannot be read may name anything.
        max_by(source, struct(landing_id, last_offset, source)) filter (
            where source is not null
        ) as said_source
    from sent_source
    group by topic

)

select
    -- identity
    topic.topic,

    -- where it comes from
    coalesce(
        topic.own_source,
        max_by(known_source.source, length(known_source.source)) filter (
            where startswith(topic.topic, concat(known_source.source, '.'))
        ),
        topic.said_source,
        max_by(known_source.source, length(known_source.source)),
        regexp_extract(topic.topic, '^(.+?)([.][^.]*){0,2}$', 1)
    ) as source
from topic
left join known_source
    on
        topic.own_source is null
        and contains(concat('.', topic.topic), concat('.', known_source.source, '.'))
group by topic.topic, topic.own_source, topic.said_source
