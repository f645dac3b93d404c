with

new_transaction as (

    select
        proven.source,
        proven.transaction_id
    from {{ ref('commit') }} as proven
    where
        proven.cut_id = {{ candidate('cut_id') }}
        and proven.transaction_id is not null
        -- These were published by another proof, or by an operator.
        and proven.proof = 'counted'
        and not proven.has_reset_counters
        and proven.decision_sentence is null

),

table_of_end as (

    select
        source,
        transaction_id,
        explode(collection_counts) as (data_collection, expected_count)
    from {{ ref('int_message') }}
    where marker = 'END'
    union all
    select
        source,
        transaction_id,
        data_collection,
        1 as expected_count
    from {{ ref('stg_message') }}
    where kind = 'change' and is_whole_transaction

),

-- Copies of one END are equal; any of them will do.
expected_table as (

    select
        table_of_end.source,
        table_of_end.transaction_id,
        table_of_end.data_collection,
        max(table_of_end.expected_count) as expected_count
    from table_of_end
    left semi join new_transaction
        on
            table_of_end.source = new_transaction.source
            and table_of_end.transaction_id = new_transaction.transaction_id
    where
        not {{ matches_any('table_of_end.data_collection', var('not_ingested_tables')) }}
        and not {{ matches_any('table_of_end.data_collection', [message_collection()]) }}
    group by table_of_end.source, table_of_end.transaction_id, table_of_end.data_collection

),

counted_change as (

    select
        source,
        transaction_id,
        data_collection,
        expected_count,
        0 as change_count
    from expected_table
    union all
    select
        placed.source,
        placed.transaction_id,
        event.data_collection,
        0 as expected_count,
        1 as change_count
    from {{ ref('int_change') }} as placed
    left join {{ ref('stg_message') }} as event
        on
            placed.topic = event.topic
            and placed.partition = event.partition
            and placed.`offset` = event.`offset`
            and event.kind in ('change', 'schema_change')
            and event.copy_number = 1
    left semi join new_transaction
        on
            placed.source = new_transaction.source
            and placed.transaction_id = new_transaction.transaction_id
    where
        placed.cut_id = {{ candidate('cut_id') }}
        -- No END counts a statement of DDL that ends the rows of a table.
        and event.kind is distinct from 'schema_change'

)

select
    source,
    transaction_id,
    data_collection,
    sum(expected_count) as expected_count,
    sum(change_count) as change_count
from counted_change
group by source, transaction_id, data_collection
having sum(expected_count) is distinct from sum(change_count)
