-- BEGIN and END are of the source of their topic, with the database where that is a source of its
-- own (S0); others of what they say, or their topic shows. A step adds to what it reads;
-- stg_message names the columns.
select
    message.* except (source),  -- noqa: AM04
    topic.judged_sources,
    (message.kind = 'transaction_marker' and topic.marker_source is null)
    or size(topic.judged_sources) = 0 as is_unplaced,
    case
        when message.kind != 'transaction_marker' then coalesce(message.source, topic.topic_source)
        when
            array_contains(
                topic.judged_sources, concat_ws('.', topic.marker_source, message.database_name)
            )
            then concat_ws('.', topic.marker_source, message.database_name)
        else coalesce(topic.marker_source, '')
    end as source
from {{ ref('stg_message') }} as message
inner join {{ ref('int_topic') }} as topic
    on message.topic = topic.topic and topic.cut_id = {{ candidate('cut_id') }}
