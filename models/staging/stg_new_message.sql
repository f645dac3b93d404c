with

new_message as (

    select
        message.*,
        flatten_message(
            message.topic, message.key, message.value, message.headers, {{ connector_settings() }}
        ) as flat
    from {{ source('landing', 'message') }} as message
    where
        message.landing_id > {{ candidate('starting_landing_id') }}
        and message.landing_id <= {{ candidate('landing_id') }}

),

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

epoch as (

    select
        *,
        collect_set(source) over () as sources
    from {{ ref('int_epoch') }}

),

-- BEGIN and END of Db2 may name the database, which is no part of the source.
epoch_message as (

    select
        new_message.*,
        coalesce(epoch.position_prefix, '') as epoch
    from new_message
    left join transaction_topic
        on
            new_message.flat.kind = 'transaction_marker'
            and new_message.topic = transaction_topic.topic
    left join epoch
        on
            new_message.timestamp >= epoch.starts_at
            and coalesce(new_message.timestamp < epoch.ends_at, true)
            and (
                case
                    when transaction_topic.topic is not null
                        then
                            concat_ws(
                                '.', transaction_topic.source_prefix, new_message.flat.database_name
                            )
                    else new_message.flat.source
                end = epoch.source
                or (
                    new_message.flat.kind = 'transaction_marker'
                    and new_message.flat.connector is null
                    and not array_contains(epoch.sources, new_message.flat.source)
                    and regexp_replace(new_message.flat.source, '[.][^.]*$', '') = epoch.source
                )
            )

)

select {{ flattened_columns() }}
from epoch_message
