with

progress as (

    select
        *,
        max(partition) over (partition by topic) + 1 as partition_count
    from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('cut_id') }} and marker_source is not null

)

select
    -- identity
    topic,
    partition,

    -- what has landed of it
    known_ranges,
    unplaced_offsets,
    last_offset,

    -- counts
    partition_count
from progress
where partition_count > 1
