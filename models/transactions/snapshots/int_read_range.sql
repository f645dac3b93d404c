select
    -- identity
    source,
    event_position as snapshot_position,
    topic,
    partition,

    -- position
    min(`offset`) as first_read_offset,
    max(`offset`) as last_read_offset
from {{ ref('int_pending_read') }}
group by source, event_position, topic, partition
