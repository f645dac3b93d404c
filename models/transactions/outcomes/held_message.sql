with

held_outcome as (

    select * from {{ ref('int_outcome') }}
    where outcome = 'held'

),

held_message as (

    select
        message.*,
        {{ candidate('cut_id') }}L as cut_id
    from {{ ref('stg_message') }} as message
    left semi join held_outcome
        on
            message.landing_id = held_outcome.landing_id
            and message.topic = held_outcome.topic
            and message.partition = held_outcome.partition
            and message.`offset` = held_outcome.`offset`
            and message.copy_number = held_outcome.copy_number
            and message.kind = held_outcome.kind

)

select
    cut_id,

    -- delivery
    landing_id,
    topic,
    partition,
    `offset`,

    -- what it is
    kind,
    quarantine_reason,
    quarantine_detail,
    has_repeated_names,

    -- where it comes from
    connector,
    source,
    database_name,
    schema_name,
    table_name,
    data_collection,

    -- position
    operation,
    snapshot,
    transaction_id,
    is_whole_transaction,
    marker,
    event_count,
    collection_counts,
    commit_position,
    log_position,
    previous_commit_position,
    sent_position as event_position,
    total_order,
    data_collection_order,
    committed_at,

    -- payload
    row_key,
    new_row_key,
    old_row_key,
    before,
    after,
    column_types,
    table_changes,
    signal_type,
    signal_data,
    notification
from held_message
