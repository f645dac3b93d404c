with

read_partition as (

    select
        source,
        event_position as snapshot_position,
        topic,
        partition,
        min(`offset`) as first_read_offset,
        max(`offset`) as last_read_offset
    from {{ ref('int_pending_read') }}
    group by source, event_position, topic, partition

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

-- The first message of the source after the reads: no read is missing before it. A tombstone says
-- nothing that its delete does not say, and no later run knows of it.
following_message as (

    select
        message.source,
        message.topic,
        message.partition,
        read_partition.snapshot_position,
        min(message.`offset`) as following_offset
    from {{ ref('stg_message') }} as message
    inner join read_partition
        on
            message.topic = read_partition.topic
            and message.partition = read_partition.partition
            and message.source = read_partition.source
    where
        message.kind not in ('quarantined', 'tombstone')
        and coalesce(message.snapshot = 'incremental', true)
        and message.`offset` > read_partition.last_read_offset
    group by message.source, message.topic, message.partition, read_partition.snapshot_position

),

-- In a partition without reads of the first snapshot every message comes after it, also the reads
-- of a later one.
first_message as (

    select
        message.source,
        message.topic,
        message.partition,
        min(message.`offset`) as first_offset
    from {{ ref('stg_message') }} as message
    left semi join read_partition
        on message.source = read_partition.source
    where message.kind not in ('quarantined', 'tombstone')
    group by message.source, message.topic, message.partition

),

-- What a source sent before a snapshot shows that the snapshot is not its first.
first_change as (

    select
        sent.source,
        min(sent.position) as position
    from (
        select
            source,
            case
                when connector = 'postgresql' then previous_commit_position
                -- A change without a place may have been sent before any snapshot.
                else coalesce(event_position, commit_position, '')
            end as position
        from {{ ref('stg_message') }}
        where kind = 'change' and snapshot is null
        union all
        select
            source,
            commit_position as position
        from {{ ref('stg_transaction_marker') }}
        where
            marker = 'END'
            and log_position is null
            and not {{ ordered_by_end("coalesce(connector, '')") }}
    ) as sent
    left semi join read_partition
        on sent.source = read_partition.source
    group by sent.source

),

-- Before the first snapshot of a source nothing is in a partition.
snapshot as (

    select
        read_partition.source,
        read_partition.snapshot_position,
        max(blocking.source) is not null as is_blocking,
        collect_set(read_partition.topic) as read_topics,
        min(read_partition.snapshot_position) over (
            partition by read_partition.source
        ) = read_partition.snapshot_position
        and max(starting_commit.source) is null
        and coalesce(max(first_change.position) > read_partition.snapshot_position, true)
            as is_first_snapshot
    from read_partition
    left join {{ ref('int_blocking_snapshot') }} as blocking
        on
            read_partition.source = blocking.source
            and read_partition.snapshot_position = blocking.snapshot_position
    left join first_change
        on read_partition.source = first_change.source
    left join starting_commit
        on read_partition.source = starting_commit.source
    group by read_partition.source, read_partition.snapshot_position

),

-- The first change that shows that a partition without reads has passed a later snapshot.
passing_change as (

    select
        message.source,
        message.topic,
        message.partition,
        snapshot.snapshot_position,
        min(message.`offset`) as passing_offset
    from {{ ref('stg_change_event') }} as message
    inner join snapshot
        on
            message.source = snapshot.source
            and message.event_position > snapshot.snapshot_position
    where coalesce(message.snapshot != 'incremental', true)
    group by message.source, message.topic, message.partition, snapshot.snapshot_position

),

progress as (

    select
        built.*,
        -- A table for signals is in no snapshot, but those are that share its topic.
        {{ is_table_topic('built') }}
        and (
            not bool_or(built.has_signals) over (partition by built.topic)
            or size(array_distinct(flatten(
                collect_list(built.data_collections) over (partition by built.topic)
            ))) > 1
        ) as is_snapshot_topic
    from {{ ref('partition_progress') }} as built
    where built.cut_id = {{ candidate('cut_id') }}

)

-- Also of tables of which no read has landed, as all of theirs may be missing; but a blocking
-- snapshot is of some tables only.
select
    -- identity
    snapshot.source,
    snapshot.snapshot_position,
    progress.topic,
    progress.partition,

    -- proof
    case
        when read_partition.topic is null
            then
                {{ var('landing_reaches_the_end') }}
                or case
                    when snapshot.is_first_snapshot
                        then
                            -- If another source sends too, the first messages may be its own.
                            coalesce(
                                exists(
                                    progress.known_ranges,
                                    known -> known.first_offset = 0
                                    and known.last_offset >= coalesce(
                                        first_message.first_offset,
                                        -- A partition that is still empty may bring a read.
                                        case
                                            when
                                                progress.sources = array(snapshot.source)
                                                or (
                                                    progress.has_tombstones
                                                    and size(progress.sources) = 0
                                                )
                                                then 0
                                        end
                                    )
                                ),
                                false
                            )
                            and not exists(
                                progress.unplaced_offsets,
                                bad -> coalesce(bad < first_message.first_offset, true)
                            )
                    else
                        passing_change.passing_offset is not null
                        -- The partition must be complete from an earlier message of this source
                        -- up to here. A gap further back is older than the snapshot, so it cannot
                        -- hide one of its reads.
                        and exists(
                            progress.known_ranges,
                            known -> known.last_offset >= passing_change.passing_offset
                            and (
                                known.first_offset = 0
                                or (
                                    known.first_offset < passing_change.passing_offset
                                    and size(progress.sources) = 1
                                )
                            )
                        )
                        -- A message that cannot be read is older than the snapshot if a change
                        -- behind it is.
                        and not exists(
                            progress.unreadable_spans,
                            span -> span.after_position <= snapshot.snapshot_position
                            and coalesce(span.before_position > snapshot.snapshot_position, true)
                        )
                end
        else
            -- Here too, a gap further back is older than the reads.
            exists(
                progress.known_ranges,
                known -> known.last_offset >= coalesce(
                    following_message.following_offset, read_partition.last_read_offset
                )
                and (
                    known.first_offset = 0
                    or (
                        known.first_offset < read_partition.first_read_offset
                        and size(progress.sources) = 1
                    )
                )
            )
            -- A message that cannot be read may be a read that is missing.
            and not exists(
                progress.unplaced_offsets,
                bad -> bad >= read_partition.first_read_offset - 1
                and coalesce(bad < following_message.following_offset, true)
            )
    end as has_no_gap,
    read_partition.topic is not null as has_reads,
    read_partition.topic is null
    or following_message.following_offset is not null as has_later_message
from snapshot
inner join progress
    on
        snapshot.source = progress.topic_source
        and case
            when snapshot.is_blocking then array_contains(snapshot.read_topics, progress.topic)
            else progress.is_snapshot_topic
        end
left join read_partition
    on
        snapshot.source = read_partition.source
        and snapshot.snapshot_position = read_partition.snapshot_position
        and progress.topic = read_partition.topic
        and progress.partition = read_partition.partition
left join following_message
    on
        read_partition.source = following_message.source
        and progress.topic = following_message.topic
        and progress.partition = following_message.partition
        and read_partition.snapshot_position = following_message.snapshot_position
left join first_message
    on
        snapshot.source = first_message.source
        and progress.topic = first_message.topic
        and progress.partition = first_message.partition
left join passing_change
    on
        snapshot.source = passing_change.source
        and progress.topic = passing_change.topic
        and progress.partition = passing_change.partition
        and snapshot.snapshot_position = passing_change.snapshot_position
