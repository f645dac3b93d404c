with

-- BEGIN and END name no source. Theirs is that of their topic, as an earlier run has shown it, or
-- as its name says until int_transaction_topic knows it.
transaction_topic as (

    select
        topic,
        max(marker_source) as source_prefix
    from {{ source('pointer', 'partition_progress') }}
    where cut_id = {{ candidate('starting_cut_id') }} and marker_source is not null
    group by topic

),

held_message as (

    select held.* except (cut_id)
    from {{ source('pointer', 'held_message') }} as held
    where held.cut_id = {{ candidate('starting_cut_id') }}

),

sent_message as (

    select * from {{ ref('stg_new_message') }}
    union all
    select * from held_message

),

message as (

    select
        sent.* except (source),
        case
            when transaction_topic.topic is not null
                then concat_ws('.', transaction_topic.source_prefix, sent.database_name)
            else sent.source
        end as source
    from sent_message as sent
    left join transaction_topic
        on sent.kind = 'transaction_marker' and sent.topic = transaction_topic.topic

),

identified_message as (

    select
        *,
        {{ event_hash() }} as event_hash,
        xxhash64(before, after) as content_hash,
        xxhash64(total_order, data_collection_order) as order_hash
    from message

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

{% if var('watermark_sources') -%}
{{ message_in_order(var('watermark_sources')) }}

{% endif -%}
ordered_message as (

    {% if var('watermark_sources') -%}
    select
        * except (event_position, position_in_order),
        event_position as sent_position,
        position_in_order as event_position
    from message_in_order
    union all
    {% endif -%}
    select
        * except (event_position),
        false as is_of_published_transaction,
        event_position as sent_position,
        event_position
    from identified_message
    where not {{ is_ordered_by_offset('identified_message', var('watermark_sources')) }}

)

-- A step adds to what it reads; stg_message names the columns.
select *  -- noqa: AM04
from ordered_message
