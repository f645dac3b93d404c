with

-- Units that were settled before this run, or that stand behind the end of their chain.
late_unit as (

    select
        source,
        unit_kind,
        unit_id
    from {{ ref('proof') }}
    where cut_id = {{ candidate('cut_id') }} and kind = 'unit' and verdict = 'late'

),

starting_progress as (

    select
        topic,
        partition,
        last_offset
    from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('starting_cut_id') }}

),

-- A keyless read is known by its delivery alone, so a copy of it cannot be told. What a later
-- snapshot replaced need not be published whole, nor need a table that is not ingested. A snapshot
-- with which a partition goes on is not older than a published one.
late_event as (

    select
        event.source,
        event.topic,
        event.partition,
        event.`offset`,
        event.unit_kind,
        event.unit_id,
        event.event_hash,
        coalesce(event.transaction_id, {{ snapshot_id('event.unit_id') }}) as decided_id
    from {{ ref('stg_message') }} as event
    left semi join late_unit
        on
            event.source = late_unit.source
            and event.unit_kind = late_unit.unit_kind
            and event.unit_id = late_unit.unit_id
    inner join {{ ref('int_starting_commit') }} as starting_commit
        on event.source = starting_commit.source
    left join starting_progress
        on
            event.topic = starting_progress.topic
            and event.partition = starting_progress.partition
    where
        event.kind = 'change'
        and not {{ matches_any('event.data_collection', var('not_ingested_tables')) }}
        and (event.row_key is not null or event.snapshot is null)
        and not coalesce(
            coalesce(event.previous_commit_position, event.event_position)
            < starting_commit.snapshot_position
            and not coalesce(
                event.snapshot != 'incremental'
                and event.previous_commit_position is null
                and event.`offset` > starting_progress.last_offset,
                false
            ),
            false
        )

),

settled as (

    select
        known.source,
        known.unit_kind,
        known.unit_id,
        min(known.cut_id) as cut_id,
        min_by(known.transaction_id, known.cut_id) as transaction_id
    from {{ ref('settled_unit') }} as known
    left semi join late_unit
        on
            known.source = late_unit.source
            and known.unit_kind = late_unit.unit_kind
            and known.unit_id = late_unit.unit_id
    where known.cut_id <= {{ candidate('starting_cut_id') }}
    group by known.source, known.unit_kind, known.unit_id

)

select
    late_event.source,
    late_event.topic,
    late_event.partition,
    late_event.`offset`,
    late_event.unit_id
from late_event
left join settled
    on
        late_event.source = settled.source
        and late_event.unit_kind = settled.unit_kind
        and late_event.unit_id = settled.unit_id
-- What an operator decided on need not be published whole, nor a window that it closed.
left anti join {{ ref('int_operator_decision') }} as decided
    on
        late_event.source = decided.source
        and coalesce(settled.transaction_id, late_event.decided_id) = decided.transaction_id
        and decided.decision in ('release', 'discard')
-- Through the cut of its unit, so that only the partitions of late events are read.
left join {{ ref('int_change') }} as published_change
    on
        settled.cut_id = published_change.cut_id
        and late_event.source = published_change.source
        and late_event.event_hash = published_change.event_hash
group by
    late_event.source,
    late_event.topic,
    late_event.partition,
    late_event.`offset`,
    late_event.unit_id
having count(published_change.event_hash) = 0
