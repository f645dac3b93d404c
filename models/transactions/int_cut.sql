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

),

marker_partition as (

    select
        source,
        max(partition) as last_marker_partition
    from {{ ref('stg_transaction_marker') }}
    group by source

),

-- The transaction topic is known without a gap from the cut's END to here.
known_marker as (

    select
        source,
        `offset`,
        max(`offset`) over (partition by source, island) as known_offset
    from {{ ref('int_marker_island') }}

),

reached_commit as (

    select
        starting_commit.last_marker_partition,
        coalesce(latest_commit.source, starting_commit.source) as source,
        coalesce(
            latest_commit.latest.commit_number, starting_commit.commit_number
        ) as commit_number,
        coalesce(
            latest_commit.latest.commit_position, starting_commit.commit_position
        ) as commit_position,
        coalesce(
            latest_commit.latest.marker_offset, starting_commit.marker_offset
        ) as marker_offset,
        coalesce(
            latest_commit.snapshot_position, starting_commit.snapshot_position
        ) as snapshot_position,
        coalesce(
            starting_commit.first_transaction_id, latest_commit.first_transaction_id
        ) as first_transaction_id,
        coalesce(
            latest_commit.latest.transaction_id, starting_commit.transaction_id
        ) as transaction_id,
        coalesce(latest_commit.latest.committed_at, starting_commit.committed_at) as committed_at,
        coalesce(latest_commit.latest.proof, starting_commit.proof) as proof,
        coalesce(latest_commit.new_commit_count, 0) as new_commit_count
    from latest_commit
    full join starting_commit
        on latest_commit.source = starting_commit.source

)

select
    -- identity
    reached_commit.source,

    -- position
    reached_commit.commit_number,
    reached_commit.commit_position,
    reached_commit.snapshot_position,
    reached_commit.first_transaction_id,

    -- provenance
    reached_commit.transaction_id,
    reached_commit.committed_at,
    reached_commit.proof,

    -- counts
    reached_commit.new_commit_count,

    -- what is known of the transaction topic
    coalesce(known_marker.known_offset, reached_commit.marker_offset) as marker_offset,
    greatest(
        reached_commit.last_marker_partition, marker_partition.last_marker_partition
    ) as last_marker_partition
from reached_commit
left join known_marker
    on
        reached_commit.source = known_marker.source
        and reached_commit.marker_offset = known_marker.`offset`
left join marker_partition
    on reached_commit.source = marker_partition.source
