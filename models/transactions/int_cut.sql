with

candidate as (

    select * from {{ source('pointer', 'cut') }}
    where channel = 'candidate'

),

new_commit as (

    select proven.*
    from {{ ref('commit') }} as proven
    inner join candidate
        on proven.cut_id = candidate.cut_id

),

latest_commit as (

    select
        source,
        max_by(
            named_struct(
                'commit_number', commit_number,
                'commit_position', commit_position,
                'transaction_id', transaction_id,
                'committed_at', committed_at,
                'marker_offset', marker_offset,
                'proof', proof
            ),
            commit_number
        ) as latest,
        max(snapshot_position) as snapshot_position,
        min_by(transaction_id, commit_number) filter (
            where transaction_id is not null
        ) as first_transaction_id,
        count(*) as new_commit_count
    from new_commit
    group by source

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

)

select
    -- identity
    coalesce(latest_commit.source, starting_commit.source) as source,

    -- position
    coalesce(latest_commit.latest.commit_number, starting_commit.commit_number) as commit_number,
    coalesce(
        latest_commit.latest.commit_position, starting_commit.commit_position
    ) as commit_position,
    coalesce(latest_commit.latest.marker_offset, starting_commit.marker_offset) as marker_offset,
    coalesce(
        latest_commit.snapshot_position, starting_commit.snapshot_position
    ) as snapshot_position,
    coalesce(
        starting_commit.first_transaction_id, latest_commit.first_transaction_id
    ) as first_transaction_id,

    -- provenance
    coalesce(latest_commit.latest.transaction_id, starting_commit.transaction_id) as transaction_id,
    coalesce(latest_commit.latest.committed_at, starting_commit.committed_at) as committed_at,
    coalesce(latest_commit.latest.proof, starting_commit.proof) as proof,

    -- counts
    coalesce(latest_commit.new_commit_count, 0) as new_commit_count
from latest_commit
full join starting_commit
    on latest_commit.source = starting_commit.source
