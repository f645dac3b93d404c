with

message as (

    select * from {{ ref('stg_message') }}

),

int_cut as (

    select * from {{ ref('int_cut') }}

),

topic as (

    select * from {{ ref('int_topic') }}

),

new_change as (

    select * from {{ ref('int_change_outcome') }}

),

-- A transaction is settled when its END lies at or before the cut; so are its BEGIN and its copies.
settled_transaction as (

    select
        message.source,
        message.transaction_id
    from message
    inner join int_cut
        on message.source = int_cut.source
    where message.marker = 'END' and message.commit_position <= int_cut.commit_position
    group by message.source, message.transaction_id

),

settled_message as (

    select
        message.*,
        coalesce(message.source, topic.source) as known_source,
        settled_transaction.source is not null
        or message.is_already_published
        or coalesce(
            message.snapshot is not null and message.event_position <= int_cut.snapshot_position,
            false
        ) as is_settled
    from message
    inner join topic
        on message.topic = topic.topic
    left join int_cut
        on message.source = int_cut.source
    left join settled_transaction
        on
            message.source = settled_transaction.source
            and message.transaction_id = settled_transaction.transaction_id

)

select
    -- delivery
    settled.landing_id,
    settled.topic,
    settled.partition,
    settled.`offset`,
    settled.copy_number,

    -- what became of it
    settled.known_source as source,
    settled.quarantine_reason,
    settled.quarantine_detail,
    case
        when settled.is_repeated_delivery then 'duplicate'
        when settled.kind in ('quarantined', 'tombstone') then settled.kind
        when settled.kind in ('change', 'transaction_marker') and not settled.is_settled then 'held'
        when settled.kind != 'change' then 'control'
        when settled.copy_number > 1 or new_change.topic is null then 'duplicate'
        when new_change.is_superseded then 'superseded'
        else 'applied'
    end as outcome
from settled_message as settled
left join new_change
    on
        settled.topic = new_change.topic
        and settled.partition = new_change.partition
        and settled.`offset` = new_change.`offset`
        and settled.copy_number = 1
