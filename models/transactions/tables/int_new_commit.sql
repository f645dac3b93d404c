select
    -- identity
    proven.source,
    proven.commit_number,

    -- position
    proven.commit_position,
    proven.snapshot_position,

    -- what it is
    proven.link_kind,
    proven.transaction_id,
    proven.proof,
    coalesce(snapshot.is_read_twice, false) as is_read_twice
from {{ ref('commit') }} as proven
left join {{ ref('int_snapshot') }} as snapshot
    on
        proven.source = snapshot.source
        and proven.snapshot_position = snapshot.snapshot_position
where proven.cut_id = {{ candidate('cut_id') }}
