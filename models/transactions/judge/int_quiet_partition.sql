with

snapshot as (

    select
        source,
        event_position as snapshot_position,
        max(landing_id) as landing_id
    from {{ ref('int_pending_read') }}
    group by source, event_position

),

-- Also of landings that have brought no message.
landed_range as (

    select
        landing_id,
        topic,
        partition,
        end_offset,
        is_sure_end,
        fetched_at
    from {{ source('landing', 'range') }}
    where is_landed

),

-- Maintenance may have joined the ranges of the landing with those of later ones.
landed_snapshot as (

    select
        snapshot.source,
        snapshot.snapshot_position,
        min(landed_range.landing_id) as landing_id,
        min_by(landed_range.fetched_at, landed_range.landing_id) as landed_at
    from snapshot
    inner join landed_range
        on snapshot.landing_id <= landed_range.landing_id
    group by snapshot.source, snapshot.snapshot_position

),

last_look as (

    select
        topic,
        partition,
        max(landing_id) as landing_id,
        max(end_offset) as end_offset,
        max_by(fetched_at, landing_id) as looked_at,
        max_by(is_sure_end, landing_id) as is_sure_end
    from landed_range
    group by topic, partition

)

select
    -- identity
    snapshot.source,
    snapshot.snapshot_position,
    partition.topic,
    partition.partition
from landed_snapshot as snapshot
inner join {{ ref('int_judged_partition') }} as partition
    on snapshot.source = partition.source
inner join last_look
    on
        partition.topic = last_look.topic
        and partition.partition = last_look.partition
where
    -- Nothing that the cluster had is missing.
    last_look.is_sure_end
    and last_look.end_offset = 1 + coalesce(partition.known_ranges[0].last_offset, -1)
    -- Clocks of two machines may differ.
    and snapshot.landing_id <= last_look.landing_id
    and {{ var('quiet_partition_seconds') }} > 0
    and last_look.looked_at
    >= snapshot.landed_at + make_interval(0, 0, 0, 0, 0, 0, {{ var('quiet_partition_seconds') }})
