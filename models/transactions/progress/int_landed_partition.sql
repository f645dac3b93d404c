with

-- The offsets of a partition as bits, 64 to a number: messages need not be put in order.
offset_block as (

    select
        topic,
        partition,
        min(`offset`) as first_offset,
        max(`offset`) as last_offset,
        bit_or(shiftleft(1L, cast(`offset` % 64 as int))) as bits
    from {{ ref('stg_message') }}
    group by topic, partition, `offset` div 64

),

-- What was fetched from Kafka, and what the cluster has of it: all partitions, also empty ones.
fetched_range as (

    select
        topic,
        partition,
        start_offset,
        end_offset,
        -- An offset without a message is a control record of a transaction of Kafka, or belongs to
        -- an aborted one, unless compaction has removed the message.
        end_offset > start_offset and cleanup_policy = 'delete' as is_known
    from {{ source('landing', 'range') }}
    where
        is_landed
        and landing_id > {{ candidate('starting_landing_id') }}
        and landing_id <= {{ candidate('landing_id') }}

),

-- An earlier part may land later, so ranges of this run and of those before can meet and overlap.
-- Where nothing has been found yet, a range of nulls stands for the partition: it may still bring
-- something.
known_range as (

    select
        topic,
        partition,
        inline(
            case
                when bit_count(bits) = last_offset - first_offset + 1
                    then array(struct(first_offset, last_offset))
                else
                    transform(
                        filter(
                            sequence(first_offset, last_offset),
                            one -> getbit(bits, one % 64) = 1
                        ),
                        one -> struct(one as first_offset, one as last_offset)
                    )
            end
        ) as (first_offset, last_offset)
    from offset_block
    union all
    select
        topic,
        partition,
        case when is_known then start_offset end as first_offset,
        case when is_known then end_offset - 1 end as last_offset
    from fetched_range
    union all
    select
        topic,
        partition,
        inline_outer(known_ranges) as (first_offset, last_offset)
    from {{ source('pointer', 'partition_progress') }}
    where cut_id = {{ candidate('starting_cut_id') }}

),

-- Once all that was sent has landed, an offset without a message is no gap: Kafka's transactions
-- take one each.
joined_range as (

    select
        *,
        coalesce(
            {% if var('landing_reaches_the_end') -%}
            false and
            {%- endif %} first_offset > 1 + max(last_offset) over (
                partition by topic, partition
                order by first_offset nulls last, last_offset
                rows between unbounded preceding and 1 preceding
            ),
            true
        ) as is_behind_a_gap
    from known_range

),

numbered_range as (

    select
        *,
        sum(cast(is_behind_a_gap as int)) over (
            partition by topic, partition
            order by first_offset nulls last, last_offset
        ) as range_number
    from joined_range

),

whole_range as (

    select
        topic,
        partition,
        range_number,
        min(first_offset) as first_offset,
        max(last_offset) as last_offset
    from numbered_range
    group by topic, partition, range_number

)

select
    -- identity
    topic,
    partition,

    -- what has landed
    max(case when range_number = 1 then last_offset end) as contiguous_offset,
    max(last_offset) as last_offset,
    array_sort(
        collect_list(struct(first_offset, last_offset)) filter (where first_offset is not null)
    ) as known_ranges
from whole_range
group by topic, partition
