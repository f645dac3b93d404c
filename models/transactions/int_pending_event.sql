with

change_event as (

    select * from {{ ref('stg_change_event') }}

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

transaction_marker as (

    select * from {{ ref('stg_transaction_marker') }}

),

-- The first transaction of a source names no predecessor; a copy of its END tells that it is
-- published.
published_transaction as (

    select
        transaction_marker.source,
        transaction_marker.transaction_id
    from transaction_marker
    inner join starting_commit
        on transaction_marker.source = starting_commit.source
    where
        transaction_marker.marker = 'END'
        and transaction_marker.commit_position <= starting_commit.commit_position
    group by transaction_marker.source, transaction_marker.transaction_id

),

placed_event as (

    select
        change_event.*,
        coalesce(
            case
                when change_event.snapshot is not null
                    then change_event.event_position <= starting_commit.snapshot_position
                when change_event.previous_commit_position is not null
                    then change_event.previous_commit_position < starting_commit.commit_position
                else published_transaction.source is not null
            end,
            false
        ) as is_already_published
    from change_event
    left join starting_commit
        on change_event.source = starting_commit.source
    left join published_transaction
        on
            change_event.source = published_transaction.source
            and change_event.transaction_id = published_transaction.transaction_id

)

select
    -- delivery
    landing_id,
    topic,
    partition,
    `offset`,
    copy_number,
    agrees_with_first_copy,
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
    after
from placed_event
