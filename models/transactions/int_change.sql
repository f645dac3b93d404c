with

candidate as (

    select * from {{ source('pointer', 'cut') }}
    where channel = 'candidate'

),

new_commit as (

    select proven.*
    from {{ ref('commit') }} as proven
    inner join candidate
        on proven.cut_id = candidate.cut_id

),

event as (

    select * from {{ ref('stg_change_event') }}
    where not is_already_published and copy_number = 1

),

placed_event as (

    select
        event.*,
        new_commit.commit_number,
        new_commit.committed_at as commit_time,
        case
            when event.snapshot is null then event.total_order
            else row_number() over (
                partition by event.source, event.snapshot is null
                order by event.topic, event.partition, event.`offset`
            )
        end as position
    from event
    inner join new_commit
        on
            event.source = new_commit.source
            and event.transaction_id <=> new_commit.transaction_id

),

change as (

    select
        source,
        commit_number,
        position,
        schema_name,
        table_name,
        operation,
        row_key,
        before,
        after,
        transaction_id,
        commit_time,
        topic,
        partition,
        `offset`,
        event_hash
    from placed_event
    union all
    -- The reads of a snapshot are one commit, which empties every table before it fills them (S4).
    select
        source,
        commit_number,
        0 as position,
        null as schema_name,
        null as table_name,
        {{ op('truncate') }} as operation,
        null as row_key,
        null as before,
        null as after,
        null as transaction_id,
        committed_at as commit_time,
        null as topic,
        null as partition,
        null as `offset`,
        null as event_hash
    from new_commit
    where transaction_id is null

)

select
    -- identity
    change.source,
    change.commit_number,
    change.position,

    -- where it comes from
    change.schema_name,
    change.table_name,

    -- payload
    change.operation,
    change.row_key,
    change.before,
    change.after,

    -- provenance
    change.transaction_id,
    change.commit_time as committed_at,
    change.topic,
    change.partition,
    change.`offset`,
    change.event_hash,
    candidate.cut_id
from change
cross join candidate
