with

judged_source as (

    select * from {{ ref('int_judged_source') }}

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

)

select
    -- identity
    judged_source.source,
    'source' as kind,

    -- payload
    to_json(
        struct(
            judged_source.connector,
            first_place.first_position,
            {{ var('landing_reaches_the_end') }} as reaches_the_end,
            {{ matches_any('judged_source.source', var('sources_without_truncate')) }}
                as sends_no_truncates,
            {{ string_array(var('refused_proofs')) }} as refused_proofs,
            coalesce(marker_topic.partition_count, 1) as marker_partition_count
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from judged_source
left join marker_topic
    on judged_source.source = marker_topic.source
left join first_place
    on judged_source.source = first_place.source
