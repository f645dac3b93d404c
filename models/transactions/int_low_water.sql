with

candidate as (

    select * from {{ source('pointer', 'cut') }}
    where channel = 'candidate'

),

progress as (

    select built.*
    from {{ ref('partition_progress') }} as built
    inner join candidate
        on built.cut_id = candidate.cut_id
    where built.source is not null

)

-- A partition whose changes name no predecessor yet reaches nowhere, so it counts as the lowest.
select
    -- identity
    source,

    -- position
    min(coalesce(link_position, '')) as low_water_position,
    min(coalesce(link_position, '')) filter (
        where has_incremental_reads
    ) as incremental_low_water_position,
    max(link_position) as high_water_position,

    -- The same by the place of the changes themselves, where they are in the order of commits.
    min(coalesce(event_position, '')) as event_low_water_position,
    min(coalesce(event_position, '')) filter (
        where has_incremental_reads
    ) as incremental_event_low_water_position,
    max(event_position) as event_high_water_position,

    -- What nothing counts may lack a message that cannot be read (S15).
    min(coalesce(readable_link_position, '')) filter (
        where size(quarantined_offsets) > 0
    ) as readable_position,
    min(coalesce(readable_event_position, '')) filter (
        where size(quarantined_offsets) > 0
    ) as readable_event_position
from progress
group by source
