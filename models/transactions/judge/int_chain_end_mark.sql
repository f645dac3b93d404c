with

-- Where END is the order, a snapshot stands behind what it has seen: its place follows a plus.
starting_commit as (

    select
        *,
        coalesce(endswith(link_position, snapshot_position), false) as is_at_snapshot
    from {{ ref('int_starting_commit') }}

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

)

select
    -- identity
    starting_commit.source,
    'chain_end' as kind,

    -- payload
    to_json(
        struct(
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
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from starting_commit
cross join copied_topic
left join starting_end
    on starting_commit.source = starting_end.source
