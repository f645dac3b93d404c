with

judged_source as (

    select * from {{ ref('int_judged_source') }}

),

-- Where END is the order, a snapshot stands behind what it has seen: its place follows a plus.
starting_commit as (

    select
        *,
        coalesce(endswith(link_position, snapshot_position), false) as is_at_snapshot
    from {{ ref('int_starting_commit') }}

),

-- Where the first commit stands that anything shows.
first_place as (

    select
        shown.source,
        min(shown.position) as first_position
    from (
        select
            source,
            case
                when connector = 'postgresql' then previous_commit_position
                when {{ ordered_by_end('connector') }}
                    then concat({{ offset_position(0) }}, '+', coalesce(event_position, ''))
                -- A change without a place may have been sent before any snapshot.
                else coalesce(event_position, commit_position, '')
            end as position
        from {{ ref('stg_message') }}
        where kind = 'change' and snapshot is null
        union all
        select
            pending.source,
            pending.commit_position as position
        from {{ ref('int_transaction') }} as pending
        inner join judged_source
            on pending.source = judged_source.source
        where not coalesce({{ ordered_by_end('judged_source.connector') }}, false)
    ) as shown
    group by shown.source

),

-- Also partitions of which nothing has landed: the next END may be in one.
marker_topic as (

    select
        source,
        max(partition) + 1 as partition_count
    from {{ ref('int_judged_marker_partition') }}
    group by source

),

source_mark as (

    select
        judged_source.source,
        judged_source.connector,
        first_place.first_position,
        {{ var('landing_reaches_the_end') }} as reaches_the_end,
        {{ matches_any('judged_source.source', var('sources_without_truncate')) }}
            as sends_no_truncates,
        {{ string_array(var('refused_proofs')) }} as refused_proofs,
        coalesce(marker_topic.partition_count, 1) as marker_partition_count
    from judged_source
    left join marker_topic
        on judged_source.source = marker_topic.source
    left join first_place
        on judged_source.source = first_place.source

),

-- ENDs of the newest transaction, which may come again and then be what the next one follows.
starting_end as (

    select
        starting_commit.source,
        coalesce(landed.end_markers, starting_commit.end_markers) as end_markers
    from starting_commit
    left join {{ ref('int_end_marker') }} as landed
        on
            starting_commit.source = landed.source
            and starting_commit.end_markers[0].transaction_id = landed.transaction_id

),

-- A copy of a transaction topic, as MirrorMaker makes, has other offsets.
copied_topic as (

    select collect_set(topic) as topics
    from {{ ref('int_transaction_topic') }}
    where not is_leading

),

chain_end as (

    select
        starting_commit.source,
        coalesce(starting_commit.commit_number, 0) as commit_number,
        case
            when not starting_commit.is_at_snapshot then starting_commit.link_position
        end as position,
        case
            when starting_commit.is_at_snapshot then starting_commit.link_position
            else starting_commit.snapshot_position
        end as snapshot_position,
        case
            when starting_end.end_markers is null then array(-1L)
            -- What was published without its END has no topic.
            else transform(
                filter(
                    starting_end.end_markers,
                    one -> not coalesce(array_contains(copied_topic.topics, one.topic), true)
                ),
                one -> one.`offset`
            )
        end as end_offsets,
        transform_values(
            map_filter(starting_commit.log_positions, (log, number) -> {{ is_gtid('log') }}),
            (log, number) -> cast(number as bigint)
        ) as log_numbers,
        greatest(
            coalesce(
                starting_commit.log_positions['place'],
                split_part(starting_commit.link_position, '+', -1)
            ),
            starting_commit.snapshot_position
        ) as reached_place
    from starting_commit
    cross join copied_topic
    left join starting_end
        on starting_commit.source = starting_end.source

)

select
    -- identity
    source,
    'source' as kind,

    -- payload
    to_json(
        struct(
            connector,
            first_position,
            reaches_the_end,
            sends_no_truncates,
            refused_proofs,
            marker_partition_count
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from source_mark
union all
select
    source,
    'chain_end' as kind,
    to_json(
        struct(
            commit_number, position, snapshot_position, end_offsets, log_numbers, reached_place
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from chain_end
