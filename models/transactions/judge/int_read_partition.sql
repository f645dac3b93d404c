with

read_partition as (

    select * from {{ ref('int_read_range') }}

),

snapshot as (

    select distinct
        source,
        snapshot_position
    from read_partition

),

-- A tombstone says nothing that its delete does not say, and no later run knows of it.
message as (

    select
        sent.source,
        sent.topic,
        sent.partition,
        sent.`offset`,
        sent.event_position,
        sent.kind = 'change' and coalesce(sent.snapshot != 'incremental', true) as is_placed,
        sent.snapshot is not null and sent.snapshot != 'incremental' as is_read
    from {{ ref('stg_message') }} as sent
    left semi join snapshot
        on sent.source = snapshot.source
    where sent.kind not in ('quarantined', 'tombstone')

),

-- In front of the reads, and the first behind them; without reads, around the snapshot's place.
newer_message as (

    select
        snapshot.source,
        snapshot.snapshot_position,
        progress.topic,
        progress.partition,
        read_partition.first_read_offset,
        read_partition.last_read_offset,
        any_value(progress.known_ranges) as known_ranges,
        any_value(progress.unplaced_offsets) as unplaced_offsets,
        any_value(progress.is_shared) as is_shared,
        min(message.`offset`) as first_offset,
        min(message.`offset`) filter (
            where case
                when read_partition.topic is not null
                    then message.`offset` > read_partition.last_read_offset and not message.is_read
                else message.is_placed and message.event_position > snapshot.snapshot_position
            end
        ) as newer_offset
    from snapshot
    inner join {{ ref('int_judged_partition') }} as progress
        on snapshot.source = progress.source
    left join read_partition
        on
            snapshot.source = read_partition.source
            and snapshot.snapshot_position = read_partition.snapshot_position
            and progress.topic = read_partition.topic
            and progress.partition = read_partition.partition
    left join message
        on
            progress.source = message.source
            and progress.topic = message.topic
            and progress.partition = message.partition
    group by
        snapshot.source,
        snapshot.snapshot_position,
        progress.topic,
        progress.partition,
        read_partition.first_read_offset,
        read_partition.last_read_offset

),

followed_partition as (

    select
        *,
        coalesce(first_read_offset, newer_offset) as following_offset
    from newer_message

),

older_message as (

    select
        newer.source,
        newer.snapshot_position,
        newer.topic,
        newer.partition,
        max(message.`offset`) as older_offset
    from followed_partition as newer
    inner join message
        on
            newer.source = message.source
            and newer.topic = message.topic
            and newer.partition = message.partition
    where
        coalesce(message.`offset` < newer.following_offset, true)
        and (newer.first_read_offset is not null or message.is_placed)
    group by newer.source, newer.snapshot_position, newer.topic, newer.partition

)

select
    -- identity
    newer.source,
    newer.snapshot_position,
    newer.topic,
    newer.partition,

    -- position
    newer.first_read_offset,
    newer.last_read_offset,
    newer.newer_offset,
    newer.first_offset,
    -- stg_message lacks what an earlier run has published, but its offsets are known to have
    -- landed. If another source sends too, they may be the other's.
    coalesce(
        older.older_offset,
        case
            when
                starting_commit.source is not null
                and exists(
                    newer.known_ranges,
                    known -> newer.following_offset - 1
                    between known.first_offset and known.last_offset
                    and (not newer.is_shared or known.first_offset = 0)
                )
                then
                    newer.following_offset - 1 - cast(
                        array_contains(newer.unplaced_offsets, newer.following_offset - 1) as int
                    )
        end
    ) as older_offset
from followed_partition as newer
left join older_message as older
    on
        newer.source = older.source
        and newer.snapshot_position = older.snapshot_position
        and newer.topic = older.topic
        and newer.partition = older.partition
left join {{ ref('int_starting_commit') }} as starting_commit
    on newer.source = starting_commit.source
