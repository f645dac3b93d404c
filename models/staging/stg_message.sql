with

-- BEGIN and END name no source. Of which epoch they are is that of the source which an earlier run
-- has found for their topic.
known_topic as (

    select
        topic,
        marker_source
    from {{ source('pointer', 'int_topic') }}
    where cut_id = {{ candidate('starting_cut_id') }} and marker_source is not null

),

epoch as (

    select
        *,
        collect_set(source) over () as sources
    from {{ ref('int_epoch') }}

),

flattened as (

    select
        landed.landing_id,
        landed.topic,
        landed.partition,
        landed.`offset`,
        landed.timestamp,
        flatten_message(
            landed.topic, landed.key, landed.value, landed.headers, {{ connector_settings() }}
        ) as flat
    from {{ source('landing', 'message') }} as landed
    where
        landed.landing_id > {{ candidate('starting_landing_id') }}
        and landed.landing_id <= {{ candidate('landing_id') }}

),

-- BEGIN and END of Db2 may name the database, which is no part of the source.
epoch_message as (

    select
        flattened.*,
        coalesce(epoch.position_prefix, '') as epoch
    from flattened
    left join known_topic
        on
            flattened.flat.kind = 'transaction_marker'
            and flattened.topic = known_topic.topic
    left join epoch
        on
            flattened.timestamp >= epoch.starts_at
            and coalesce(flattened.timestamp < epoch.ends_at, true)
            and (
                case
                    when known_topic.topic is not null
                        then concat_ws('.', known_topic.marker_source, flattened.flat.database_name)
                    else flattened.flat.source
                end = epoch.source
                or (
                    flattened.flat.kind = 'transaction_marker'
                    and flattened.flat.connector is null
                    and not array_contains(epoch.sources, flattened.flat.source)
                    and regexp_replace(flattened.flat.source, '[.][^.]*$', '') = epoch.source
                )
            )

),

message as (

    select {{ flattened_columns() }}
    from epoch_message
    union all
    -- What waits was staged when it landed.
    select held.* except (cut_id)
    from {{ source('pointer', 'held_message') }} as held
    where held.cut_id = {{ candidate('starting_cut_id') }}

)

select
    {{ staged_columns('message') }},
    row_number() over copies as copy_number,
    first_value(message.content_hash) over copies = message.content_hash
        as has_content_of_first_copy,
    coalesce(
        struct(message.topic, message.partition, message.`offset`)
        = lag(struct(message.topic, message.partition, message.`offset`)) over copies,
        false
    ) as is_repeated_delivery
from message
window copies as (
    -- Of BEGIN and END that wait, a run may have found another source than they name.
    partition by
        case when message.kind = 'change' then message.source else message.topic end,
        message.unit_kind,
        message.unit_id,
        message.event_hash
    order by message.topic, message.partition, message.`offset`, message.landing_id
)
