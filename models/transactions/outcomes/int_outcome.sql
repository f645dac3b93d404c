select
    -- delivery
    settled.landing_id,
    settled.topic,
    settled.partition,
    settled.`offset`,
    settled.copy_number,
    settled.kind,

    -- what became of it
    settled.known_source as source,
    settled.transaction_id,
    settled.quarantine_detail,
    case
        when settled.is_discarded and settled.kind = 'change' then 'discarded'
        else settled.quarantine_reason
    end as quarantine_reason,
    case
        when settled.is_repeated_delivery then 'duplicate'
        when settled.kind in ('quarantined', 'tombstone') then settled.kind
        when
            (
                settled.kind in ('change', 'transaction_marker')
                or (settled.kind = 'logical_message' and settled.transaction_id is null)
                -- Its number shows that no transaction is missing there.
                or (settled.kind = 'schema_change' and {{ is_gtid('settled.log_position') }})
            )
            and not settled.is_settled
            and new_change.topic is null
            then 'held'
        when settled.kind != 'change' then 'control'
        when settled.copy_number > 1 or settled.is_already_published then 'duplicate'
        when settled.is_discarded then 'quarantined'
        when new_change.topic is null or new_change.is_superseded then 'superseded'
        else 'applied'
    end as outcome
from {{ ref('int_settled_message') }} as settled
left join {{ ref('int_change_outcome') }} as new_change
    -- What differs most comes first: Spark sorts by these in this order.
    on
        settled.event_hash = new_change.event_hash
        and settled.`offset` = new_change.`offset`
        and settled.partition = new_change.partition
        and settled.topic = new_change.topic
        -- The offsets of a recreated topic start again.
        and settled.source = new_change.source
        and settled.copy_number = 1
