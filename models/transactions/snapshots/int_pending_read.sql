select
    -- delivery
    landing_id,
    topic,
    partition,
    `offset`,
    copy_number,
    is_repeated_delivery,

    -- where it comes from
    connector,
    source,
    data_collection,

    -- position
    snapshot,
    previous_commit_position,
    event_position,
    committed_at
from {{ ref('stg_change_event') }}
where
    -- This alone lets Iceberg pass over files without reads.
    snapshot is not null
    and snapshot != 'incremental'
    and not is_already_published
