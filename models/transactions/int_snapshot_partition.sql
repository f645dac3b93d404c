with

candidate as (

    select * from {{ source('pointer', 'cut') }}
    where channel = 'candidate'

),

pending_read as (

    select * from {{ ref('stg_change_event') }}
    where snapshot != 'incremental' and not is_already_published

),

read_partition as (

    select
        source,
        event_position as snapshot_position,
        topic,
        partition,
        min(`offset`) as first_read_offset,
        max(`offset`) as last_read_offset
    from pending_read
    group by source, event_position, topic, partition

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

-- The first message that goes on after the reads; none before it can be one that is missing.
following_message as (

    select
        message.topic,
        message.partition,
        read_partition.snapshot_position,
        min(message.`offset`) as following_offset
    from {{ ref('stg_message') }} as message
    left join read_partition
        on
            message.topic = read_partition.topic
            and message.partition = read_partition.partition
    where
        message.kind != 'quarantined'
        and message.snapshot is null
        and message.`offset` > coalesce(read_partition.last_read_offset, -1)
    group by message.topic, message.partition, read_partition.snapshot_position

),

-- Before the first snapshot of a source nothing is in a partition.
read_topic as (

    select
        read_partition.source,
        read_partition.snapshot_position,
        read_partition.topic,
        min(read_partition.snapshot_position) over (
            partition by read_partition.source
        ) = read_partition.snapshot_position
        and max(starting_commit.source) is null as is_first_snapshot
    from read_partition
    left join starting_commit
        on read_partition.source = starting_commit.source
    group by read_partition.source, read_partition.snapshot_position, read_partition.topic

),

progress as (

    select built.*
    from {{ ref('partition_progress') }} as built
    inner join candidate
        on built.cut_id = candidate.cut_id

)

select
    -- identity
    read_topic.source,
    read_topic.snapshot_position,
    read_topic.topic,
    progress.partition,

    -- proof
    case
        when read_partition.topic is null
            then
                {{ var('landing_reaches_the_end') }}
                or coalesce(progress.event_position > read_topic.snapshot_position, false)
                or (
                    read_topic.is_first_snapshot
                    and progress.first_offset = 0
                    and not exists(
                        progress.quarantined_offsets,
                        bad -> coalesce(bad < following_message.following_offset, true)
                    )
                )
        else
            progress.contiguous_offset >= read_partition.last_read_offset
            and (
                progress.first_offset = 0
                or progress.first_offset < read_partition.first_read_offset
            )
            -- A message that cannot be read may be a read that is missing.
            and not exists(
                progress.quarantined_offsets,
                bad -> bad >= read_partition.first_read_offset - 1
                and coalesce(bad < following_message.following_offset, true)
            )
    end as has_no_gap,
    read_partition.topic is null
    or following_message.following_offset is not null as has_later_message
from read_topic
inner join progress
    on read_topic.topic = progress.topic
left join read_partition
    on
        read_topic.source = read_partition.source
        and read_topic.snapshot_position = read_partition.snapshot_position
        and progress.topic = read_partition.topic
        and progress.partition = read_partition.partition
left join following_message
    on
        progress.topic = following_message.topic
        and progress.partition = following_message.partition
        and read_partition.snapshot_position <=> following_message.snapshot_position
