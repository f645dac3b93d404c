with

message as (

    select * from {{ ref('stg_message') }}

),

pending_read as (

    select * from {{ ref('stg_change_event') }}
    where snapshot is not null and not is_already_published

),

read_partition as (

    select
        source,
        topic,
        partition,
        max(`offset`) as last_read_offset,
        min(`offset`) as first_read_offset
    from pending_read
    group by source, topic, partition

),

read_topic as (

    select
        source,
        topic
    from read_partition
    group by source, topic

),

message_partition as (

    select
        message.topic,
        message.partition,
        min(message.`offset`) as first_offset,
        max(message.`offset`) as last_offset,
        count(distinct case
            -- A message that cannot be read may be a read that is missing.
            when
                message.`offset` <= read_partition.last_read_offset
                and message.kind != 'quarantined'
                then message.`offset`
        end) as count_up_to_last_read
    from message
    left join read_partition
        on
            message.topic = read_partition.topic
            and message.partition = read_partition.partition
    group by message.topic, message.partition

)

select
    -- identity
    read_topic.source,
    read_topic.topic,
    message_partition.partition,

    -- proof
    coalesce(
        message_partition.count_up_to_last_read
        = read_partition.last_read_offset - message_partition.first_offset + 1
        and (
            message_partition.first_offset = 0
            or message_partition.first_offset < read_partition.first_read_offset
        ),
        -- Without reads of its own it must be known from its start.
        message_partition.first_offset = 0
    ) as has_no_gap,
    coalesce(
        message_partition.last_offset > read_partition.last_read_offset, true
    ) as has_later_message
from read_topic
inner join message_partition
    on read_topic.topic = message_partition.topic
left join read_partition
    on
        message_partition.topic = read_partition.topic
        and message_partition.partition = read_partition.partition
