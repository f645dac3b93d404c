with

-- If the transaction topic has several partitions, offsets of END give no order. Numbers of one
-- log do: GTIDs of one server, places in the binary log, commit SCNs.
partitioned_source as (

    select progress.marker_source as source
    from {{ ref('partition_progress') }} as progress
    inner join {{ ref('int_transaction_topic') }} as transaction_topic
        on progress.topic = transaction_topic.topic
    where
        {{ run_has('split_topic') }}
        and progress.cut_id = {{ candidate('cut_id') }}
        and progress.marker_source is not null
        and transaction_topic.is_leading
    group by progress.marker_source
    having max(progress.partition) > 0

),

numbered_source as (

    select
        numbered.source,
        min(split_part(numbered.log_position, '#', 1))
        = max(split_part(numbered.log_position, '#', 1)) as has_one_log
    from (
        select
            source,
            log_position
        from {{ ref('stg_transaction_marker') }}
        union all
        select
            source,
            log_position
        from {{ ref('int_table_count') }}
        union all
        select
            source,
            explode(map_keys(log_positions)) as log_position
        from {{ ref('int_starting_commit') }}
    ) as numbered
    left semi join partitioned_source
        on numbered.source = partitioned_source.source
    where numbered.log_position != 'place'
    group by numbered.source

)

select
    -- identity
    partitioned_source.source,

    -- order
    coalesce(numbered_source.has_one_log, true) as has_one_log,
    -- Behind all that was published when the topic had one partition.
    concat(
        coalesce(substr(starting_commit.link_position, 1, 20), {{ offset_position(0) }}), '/'
    ) as position_prefix
from partitioned_source
left join numbered_source
    on partitioned_source.source = numbered_source.source
left join {{ ref('int_starting_commit') }} as starting_commit
    on partitioned_source.source = starting_commit.source
