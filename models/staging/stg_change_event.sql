with

change_group as (

    select * from {{ ref('stg_change_group') }}
    where {{ run_has('lone_change') }}

),

event as (

    select
        message.* except (transaction_id),
        coalesce(change_group.group_id, message.transaction_id) as transaction_id
    from {{ ref('stg_message') }} as message
    left join change_group
        on
            message.source = change_group.source
            and message.transaction_id = change_group.transaction_id
    where message.kind = 'change'

)

select
    -- delivery
    landing_id,
    topic,
    partition,
    `offset`,
    copy_number,
    has_content_of_first_copy,
    has_order_of_first_copy,
    is_repeated_delivery,
    event_hash,

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
    commit_position,
    log_position,
    previous_commit_position,
    event_position,
    total_order,
    data_collection_order,
    committed_at,
    is_already_published,

    -- payload
    row_key,
    new_row_key,
    old_row_key,
    before,
    after,
    column_types,

    -- An incremental snapshot closes each of its windows by a row in the signal table (S6); another
    -- asks for a blocking snapshot (S7).
    coalesce(signal_type = 'snapshot-window-close', false) as is_window_close,
    coalesce(
        signal_type = 'execute-snapshot'
        and lower(get_json_object(signal_data, '$.type')) = 'blocking',
        false
    ) as is_blocking_signal
from event
