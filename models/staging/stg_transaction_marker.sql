with

message as (

    select * from {{ ref('stg_message') }}

),

-- END of SQL Server and Db2 may name a database, which belongs to the source where the changes say
-- so (S0). Their BEGIN names none, and their ids look alike.
known_source as (

    select source
    from message
    where kind = 'change'
    group by source
    union distinct
    select source from {{ ref('int_starting_commit') }}

),

source_of_database as (

    select regexp_replace(source, '[.][^.]*$', '') as source_prefix
    from known_source
    where source like '%.%'
    group by regexp_replace(source, '[.][^.]*$', '')

),

marker as (

    select
        *,
        regexp_replace(source, '[.][^.]*$', '') as source_prefix
    from message
    -- A position says of itself whether it is published; an offset does not.
    where kind = 'transaction_marker' and not (is_already_published and log_position is not null)

)

select
    -- delivery
    marker.landing_id,
    marker.topic,
    marker.partition,
    marker.`offset`,

    -- position
    marker.marker,
    marker.connector,
    marker.transaction_id,
    marker.log_position,
    marker.committed_at,

    -- payload
    marker.event_count,
    marker.collection_counts,

    -- where it comes from
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
                concat(
                    {{ offset_position('marker.`offset`') }},
                    -- Offsets of several partitions tell no order, but two places.
                    case when marker.partition = 0 then '' else concat('/', marker.partition) end
                )
        else marker.commit_position
    end as commit_position
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
