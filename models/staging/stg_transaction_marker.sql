with

-- END of SQL Server and Db2 may name a database, which belongs to the source where the changes say
-- so (S0). Their BEGIN names none, and their ids look alike.
known_source as (

    select source from {{ ref('stg_message') }}
    where {{ run_has('marker_without_connector') }} and kind = 'change'
    group by source
    union distinct
    select source from {{ ref('int_starting_commit') }}
    where {{ run_has('marker_without_connector') }}

),

source_of_database as (

    select regexp_replace(source, '[.][^.]*$', '') as source_prefix
    from known_source
    where source like '%.%'
    group by regexp_replace(source, '[.][^.]*$', '')

),

-- While nothing shows the source of a topic, its BEGIN and END are held.
marker as (

    select
        message.* except (source),
        transaction_topic.source_prefix,
        transaction_topic.is_leading,
        concat_ws('.', transaction_topic.source_prefix, message.database_name) as source
    from {{ ref('stg_message') }} as message
    inner join {{ ref('int_transaction_topic') }} as transaction_topic
        on message.topic = transaction_topic.topic
    where message.kind = 'transaction_marker' and transaction_topic.source_prefix is not null

),

placed_marker as (

    select
        marker.* except (source, commit_position),
        case
            when marker.connector is null and full_source.source is null
                then coalesce(short_source.source, marker.source)
            else marker.source
        end as source,
        case
            when marker.marker = 'BEGIN' then null
            -- Until a change has landed, the database may be a part of the source's name or not.
            when
                marker.connector is null
                and marker.source_prefix != marker.source
                and full_source.source is null
                and short_source.source is null
                then null
            when marker.log_position is not null or {{ ordered_by_end('marker.connector') }}
                then
                    case
                        -- Offsets of another topic tell another order.
                        when marker.is_leading
                            then
                                concat(
                                    {{ offset_position('marker.`offset`') }},
                                    -- Those of several partitions tell none.
                                    case
                                        when marker.partition = 0 then ''
                                        else concat('/', marker.partition)
                                    end
                                )
                    end
            else marker.commit_position
        end as commit_position,
        -- Where its END would stand, behind all that came before.
        case
            when
                marker.marker = 'BEGIN'
                and marker.log_position like '%domain-%'
                and marker.is_leading
                then {{ offset_position('marker.`offset` + 1') }}
        end as begin_position
    from marker
    left join known_source as full_source
        on marker.source = full_source.source
    left join known_source as short_source
        on marker.source_prefix = short_source.source
    left join source_of_database
        on marker.source = source_of_database.source_prefix
    -- BEGIN of SQL Server does not say of which database it is, so it belongs to no transaction.
    where not (
        marker.marker = 'BEGIN'
        and marker.connector is null
        and full_source.source is null
        and source_of_database.source_prefix is not null
    )

),

-- A topic that landed beside a copy of it, as MirrorMaker makes them, shows nothing that the copy
-- does not.
single_marker as (

    select * from placed_marker
    where is_leading
    union all
    select copied.*
    from placed_marker as copied
    left anti join placed_marker as original
        on
            original.is_leading
            and copied.source = original.source
            and copied.transaction_id = original.transaction_id
            and copied.marker = original.marker
    where {{ run_has('copied_topic') }} and not copied.is_leading

)

select
    -- delivery
    single.landing_id,
    single.topic,
    single.partition,
    single.`offset`,

    -- position
    single.marker,
    single.connector,
    single.transaction_id,
    single.log_position,
    single.commit_position,
    single.begin_position,
    single.committed_at,

    -- payload
    single.event_count,
    single.collection_counts,

    -- where it comes from
    single.source
from single_marker as single
left join {{ ref('int_starting_commit') }} as starting_commit
    on single.source = starting_commit.source
-- A log position shows whether it is published already; an offset does not.
where
    not coalesce(
        split_part(single.log_position, '#', 2)
        <= starting_commit.log_positions[split_part(single.log_position, '#', 1)],
        false
    )
