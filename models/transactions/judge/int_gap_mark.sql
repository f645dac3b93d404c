with

unread as (

    select
        source,
        topic,
        partition,
        connector,
        inline(unreadable_spans) as (
            `offset`,
            after_position,
            before_position,
            after_link_position,
            before_link_position,
            known_link_position,
            known_event_position
        )
    from {{ ref('int_judged_partition') }}
    where {{ run_has('unreadable_message') }}

),

unreadable_message as (

    select
        source,
        topic,
        partition,
        `offset`,
        before_position,
        nullif(
            case
                when connector = 'postgresql' then after_link_position
                when connector in ('sqlserver', 'db2') then split_part(after_position, '/', 1)
                else after_position
            end,
            ''
        ) as after_place,
        case
            when connector = 'postgresql' then before_link_position
            when connector in ('sqlserver', 'db2') then split_part(before_position, '/', 1)
            else before_position
        end as before_place,
        after_position = '' as may_be_a_first_read,
        nullif(
            case
                when connector = 'postgresql' then known_link_position else known_event_position
            end,
            ''
        ) as known_place
    from unread

),

unreadable_marker as (

    select
        source,
        topic,
        partition,
        true as is_of_markers,
        cast(null as string) as after_place,
        cast(null as string) as before_place,
        explode(unplaced_offsets) as `offset`
    from {{ ref('int_judged_marker_partition') }}
    where {{ run_has('unreadable_message') }}

),

-- A stream of PostgreSQL that breaks off in a transaction sends no END of it.
begun_transaction as (

    select
        source,
        partition,
        `offset`,
        marker,
        bool_or(marker = 'END') over (partition by source, transaction_id) as has_end
    from {{ ref('stg_transaction_marker') }}
    where connector = 'postgresql'

),

unfinished as (

    select
        source,
        partition,
        `offset`
    from begun_transaction
    where marker = 'BEGIN' and not has_end
    group by source, partition, `offset`

)

select
    -- identity
    source,
    'unreadable' as kind,

    -- payload
    to_json(
        struct(
            topic,
            partition,
            `offset`,
            after_place,
            before_place,
            may_be_a_first_read,
            before_position,
            known_place
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from unreadable_message
union all
select
    source,
    'unreadable' as kind,
    to_json(
        struct(topic, partition, `offset`, is_of_markers, after_place, before_place),
        map('ignoreNullFields', 'false')
    ) as mark
from unreadable_marker
union all
select
    source,
    'unfinished' as kind,
    to_json(struct(partition, `offset`)) as mark
from unfinished
