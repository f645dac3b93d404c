select
    -- identity
    placed.source,
    {{ snapshot_id('placed.snapshot_position') }} as transaction_id,

    -- position
    placed.position as commit_position,
    placed.position as log_order,
    placed.committed_at,

    -- why
    snapshot.read_count as event_count,
    -- The tables that lack reads. Nothing counts how many a table should have.
    case
        when held.held_reason = 'missing_reads'
            then
                array_sort(concat(
                    transform(
                        filter(
                            snapshot.read_tables,
                            one -> not one.has_last_of_table
                            or arrays_overlap(one.topics, held.lacking_topics)
                        ),
                        one -> named_struct(
                            'data_collection', one.data_collection,
                            'expected_count', cast(null as bigint),
                            'received_count', one.read_count
                        )
                    ),
                    transform(
                        coalesce(snapshot.unlanded_tables, array()),
                        one -> named_struct(
                            'data_collection', one,
                            'expected_count', cast(null as bigint),
                            'received_count', 0L
                        )
                    )
                ))
        else array()
    end as miscounted_tables,
    held.held_reason
from {{ ref('int_placed_snapshot') }} as placed
inner join {{ ref('int_verdict') }} as held
    on
        placed.source = held.source
        and placed.snapshot_position = held.read_position
        and held.verdict = 'hold'
inner join {{ ref('int_snapshot') }} as snapshot
    on
        placed.source = snapshot.source
        and placed.snapshot_position = snapshot.snapshot_position
