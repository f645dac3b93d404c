with

marker as (

    select * from {{ ref('stg_message') }}
    where kind = 'transaction_marker'

),

change as (

    select
        *,
        -- A connector of SQL Server has one transaction topic for all of its databases.
        case
            when connector = 'sqlserver' and endswith(source, concat('.', database_name))
                then substr(source, 1, length(source) - length(database_name) - 1)
            else source
        end as source_prefix
    from {{ ref('stg_message') }}
    where kind = 'change'

),

known_prefix as (

    select source_prefix from change
    where source_prefix is not null
    group by source_prefix
    union distinct
    select explode(array(source, regexp_replace(source, '[.][^.]*$', ''))) as source_prefix
    from {{ ref('int_starting_commit') }}

),

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
        from marker
        union all
        select
            topic,
            marker_source as source_prefix,
            0 as marker_count
        from {{ source('pointer', 'partition_progress') }}
        where cut_id = {{ candidate('starting_cut_id') }} and marker_source is not null
    )
    group by topic

),

named_topic as (

    select
        known.topic,
        coalesce(
            {{ value_by_pattern('known.topic', var('transaction_topics')) }},
            known.source_prefix,
            known_prefix.source_prefix
        ) as source_prefix,
        known.marker_count
    from known_topic as known
    -- The name that Debezium gives by default.
    left join known_prefix
        on known.topic = concat(known_prefix.source_prefix, '.transaction')

),

-- Topics under another name: MirrorMaker puts an alias before it, `topic.transaction`,
-- `topic.delimiter` and transforms change it. Whose BEGIN and END they hold is shown by ids and
-- counts together: equal ids occur in two databases (S0).
nameless_end as (

    select marker.*
    from marker
    left semi join named_topic
        on marker.topic = named_topic.topic and named_topic.source_prefix is null
    where marker.marker = 'END'

),

counted_change as (

    select
        change.source_prefix,
        change.connector,
        change.database_name,
        change.transaction_id,
        change.data_collection,
        count(distinct change.event_hash, change.event_position) as received_count,
        max(change.event_position) as last_event_position
    from change
    left semi join nameless_end
        on change.transaction_id = nameless_end.transaction_id
    where change.snapshot is null
    group by
        change.source_prefix,
        change.connector,
        change.database_name,
        change.transaction_id,
        change.data_collection

),

compared_source as (

    select
        nameless_end.topic,
        counted.source_prefix,
        bool_or(
            nameless_end.collection_counts[counted.data_collection] = counted.received_count
        ) as has_equal_count,
        bool_and(
            coalesce(
                nameless_end.collection_counts[counted.data_collection] >= counted.received_count,
                false
            )
            -- PostgreSQL: the LSN of END lies behind all changes of its transaction.
            and coalesce(
                counted.connector != 'postgresql'
                or nameless_end.commit_position >= counted.last_event_position,
                true
            )
        ) as agrees,
        bool_and(
            nameless_end.transaction_id like '________-____-____-____-____________:%'
        ) as has_own_ids
    from nameless_end
    inner join counted_change as counted
        on
            nameless_end.transaction_id = counted.transaction_id
            and coalesce(
                nameless_end.connector = counted.connector,
                counted.connector in ('mysql', 'mariadb', 'sqlserver', 'db2')
            )
            and coalesce(nameless_end.database_name = counted.database_name, true)
    group by nameless_end.topic, counted.source_prefix

),

-- A topic whose name contains that of a source belongs to no other source.
possible_source as (

    select
        nameless.topic,
        known_prefix.source_prefix,
        coalesce(compared.has_equal_count and compared.agrees, false) as is_shown,
        coalesce(compared.has_own_ids, false) as has_own_ids,
        contains(
            concat('.', translate(nameless.topic, '-_/:', '....'), '.'),
            concat('.', translate(known_prefix.source_prefix, '-_/:', '....'), '.')
        ) as has_its_name
    from named_topic as nameless
    inner join known_prefix
        on nameless.source_prefix is null
    left join compared_source as compared
        on
            nameless.topic = compared.topic
            and known_prefix.source_prefix = compared.source_prefix

),

shown_source as (

    select
        topic,
        case
            when bool_or(has_its_name)
                then collect_set(case when has_its_name and is_shown then source_prefix end)
            -- The default name is that of a source of which nothing has landed yet. Only ids that
            -- no two databases give out show another: GTIDs of MySQL. Young servers of PostgreSQL
            -- give out the same.
            else collect_set(
                case
                    when is_shown and (has_own_ids or not endswith(topic, '.transaction'))
                        then source_prefix
                end
            )
        end as source_prefixes
    from possible_source
    group by topic

),

placed_topic as (

    select
        named.topic,
        named.marker_count,
        coalesce(
            named.source_prefix,
            case when size(shown.source_prefixes) = 1 then shown.source_prefixes[0] end
        ) as source_prefix,
        coalesce(array_sort(shown.source_prefixes), array()) as shown_prefixes
    from named_topic as named
    left join shown_source as shown
        on named.topic = shown.topic

),

followed_topic as (

    select end_markers[0].topic as topic
    from {{ ref('int_starting_commit') }}
    group by end_markers[0].topic

)

select
    -- identity
    placed.topic,

    -- where it comes from
    placed.source_prefix,
    placed.shown_prefixes,

    -- counts
    placed.marker_count,

    -- The topic that the cut has followed, else the one with the default name.
    row_number() over (
        partition by placed.source_prefix
        order by
            case
                when followed.topic is not null then 1
                when placed.topic = concat(placed.source_prefix, '.transaction') then 2
                else 3
            end,
            placed.topic
    ) = 1 as is_leading
from placed_topic as placed
left join followed_topic as followed
    on placed.topic = followed.topic
