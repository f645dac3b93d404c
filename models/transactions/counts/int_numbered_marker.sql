with

-- If BEGIN and END have no number, as Oracle's, the changes have it.
change_number as (

    select
        source,
        transaction_id,
        max(log_position) as log_position
    from {{ ref('int_table_count') }}
    where log_position is not null
    group by source, transaction_id

),

marker as (

    select
        marker.*,
        coalesce(marker.log_position, change_number.log_position) as numbered_position,
        marker.log_position is null
        and not coalesce({{ ordered_by_end('marker.connector') }}, false) as has_lsn
    from {{ ref('stg_transaction_marker') }} as marker
    left semi join {{ ref('int_partitioned_topic') }} as split
        on marker.topic = split.topic
    left join change_number
        on
            marker.source = change_number.source
            and marker.transaction_id = change_number.transaction_id

)

-- Offsets of several partitions have no common order; numbers of one log, and LSNs, have one.
select
    -- identity
    source,
    transaction_id,

    -- delivery
    topic,
    partition,
    `offset`,
    marker,

    -- order
    case
        -- The id is the LSN of the commit, also in a BEGIN.
        when has_lsn and connector is null then transaction_id
        when has_lsn
            then max(commit_position) over (partition by source, transaction_id)
        else split_part(numbered_position, '#', 2)
    end as position,
    -- What is before its first marker may be of another database of SQL Server.
    not has_lsn or connector is not null as has_own_topic
from marker
