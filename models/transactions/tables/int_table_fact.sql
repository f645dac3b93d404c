with

new_commit as (

    select
        proven.*,
        coalesce(snapshot.is_read_twice, false) as is_read_twice
    from {{ ref('commit') }} as proven
    left join {{ ref('int_snapshot') }} as snapshot
        on
            proven.source = snapshot.source
            and proven.snapshot_position = snapshot.snapshot_position
    where proven.cut_id = {{ candidate('cut_id') }}

),

source_connector as (

    select
        source,
        max(connector) as connector
    from {{ ref('stg_change_event') }}
    group by source

),

change as (

    select
        placed.*,
        new_commit.commit_position,
        new_commit.is_read_twice,
        new_commit.proof,
        case when placed.transaction_id is null then new_commit.link_kind end as read_in
    from {{ ref('int_change') }} as placed
    inner join new_commit
        on
            placed.source = new_commit.source
            and placed.commit_number = new_commit.commit_number
    where
        placed.cut_id = {{ candidate('cut_id') }}
        and placed.topic is not null
        and placed.table_name is not null

),

shown as (

    select
        source,
        schema_name,
        table_name,
        min(commit_number) as first_commit_number,
        min_by(operation, struct(commit_number, position)) as first_operation,
        max(commit_number) filter (where read_in = 'initial_snapshot') as initial_commit_number,
        max(commit_number) filter (
            where read_in = 'initial_snapshot' and is_read_twice
        ) as twice_read_commit_number,
        max(commit_number) filter (where read_in = 'blocking_snapshot') as blocking_commit_number,
        min(commit_position) filter (where read_in = 'transaction') as first_window_position,
        max(commit_position) filter (where read_in = 'transaction') as last_window_position,
        max(commit_number) filter (where read_in = 'transaction') as last_window_commit_number,
        max(committed_at) filter (where read_in = 'transaction') as last_window_at,
        bool_or(operation != {{ op('truncate') }}) as has_rows,
        bool_or(row_key is not null) as has_key,
        bool_or(before is not null) as has_old_image,
        bool_or(operation = {{ op('truncate') }}) as has_truncate,
        max(commit_number) filter (
            where operation = {{ op('delete') }} and {{ is_filler_key('row_key', 'before') }}
        ) as filler_key_commit_number
    from change
    group by source, schema_name, table_name

),

-- A deferred constraint lets a row be created before another one of its key is deleted, so only the
-- whole transaction tells. A window reads rows that are there already.
repeated_key as (

    select
        source,
        schema_name,
        table_name,
        commit_number,
        row_key
    from change
    where
        row_key is not null
        and operation in ({{ op('create') }}, {{ op('read') }}, {{ op('delete') }})
        and case when read_in is null then proof = 'counted' else read_in != 'transaction' end
        and not is_read_twice
    group by source, schema_name, table_name, commit_number, row_key
    having count_if(operation != {{ op('delete') }}) - count_if(operation = {{ op('delete') }}) > 1

),

-- Here a row can be gone without a delete of its key.
emptied as (

    select
        source,
        schema_name,
        table_name,
        commit_number
    from change
    where
        operation = {{ op('truncate') }}
        or (operation = {{ op('delete') }} and {{ is_filler_key('row_key', 'before') }})

),

-- Two rows with one key: a snapshot read both, or a transaction created both.
shared_key as (

    select
        repeated_key.source,
        repeated_key.schema_name,
        repeated_key.table_name,
        repeated_key.commit_number
    from repeated_key
    left anti join emptied
        on
            repeated_key.source = emptied.source
            and repeated_key.schema_name <=> emptied.schema_name
            and repeated_key.table_name = emptied.table_name
            and repeated_key.commit_number = emptied.commit_number
    union all
    -- A read of another connector than PostgreSQL is known by its key alone (S1).
    select
        copied.source,
        copied.schema_name,
        copied.table_name,
        new_commit.commit_number
    from {{ ref('stg_change_event') }} as copied
    inner join new_commit
        on
            copied.source = new_commit.source
            and copied.event_position = new_commit.snapshot_position
    where
        copied.snapshot is not null
        and copied.snapshot != 'incremental'
        and copied.row_key is not null
        and not copied.has_content_of_first_copy
        and not copied.is_already_published
        and not new_commit.is_read_twice

),

shared_key_table as (

    select
        source,
        schema_name,
        table_name,
        max(commit_number) as shared_key_commit_number
    from shared_key
    group by source, schema_name, table_name

),

-- Each window of an incremental snapshot is opened and closed by a row in the signal table (S6).
window_signal as (

    select
        message.source,
        message.schema_name,
        message.table_name,
        message.signal_type,
        new_commit.commit_number,
        max(
            case when message.signal_type = 'snapshot-window-open' then new_commit.commit_number end
        ) over (
            partition by message.source
            order by new_commit.commit_number
            rows between unbounded preceding and current row
        ) as opened_commit_number
    from {{ ref('stg_message') }} as message
    inner join new_commit
        on
            message.source = new_commit.source
            and message.transaction_id = new_commit.transaction_id
    where
        message.kind = 'change'
        and message.signal_type in (
            'snapshot-window-open', 'snapshot-window-close', 'stop-snapshot'
        )
        and message.copy_number = 1
        and not message.is_already_published

),

-- The connector closes a window without a read where its query of the table gave no row (Debezium
-- 3.6.3), which ends the scan; or where each row that it gave was changed since the window was
-- opened.
empty_window as (

    select
        window_signal.source,
        window_signal.opened_commit_number,
        window_signal.commit_number
    from window_signal
    left anti join change
        on
            window_signal.source = change.source
            and window_signal.commit_number = change.commit_number
            and change.read_in = 'transaction'
    where
        window_signal.signal_type = 'snapshot-window-close'
        and window_signal.opened_commit_number is not null

),

scanned_table as (

    select
        source,
        schema_name,
        table_name
    from shown
    where last_window_commit_number is not null
    {% if is_incremental() -%}
    union distinct
    select
        built.source,
        built.schema_name,
        built.table_name
    from {{ this }} as built
    where
        built.cut_id = {{ candidate('starting_cut_id') }}
        and built.last_window_commit_number is not null
    {%- endif %}

),

scan as (

    select
        scanned.source,
        scanned.schema_name,
        scanned.table_name,
        empty_window.commit_number as scan_ended_commit_number,
        cast(null as bigint) as scan_stopped_commit_number
    from scanned_table as scanned
    inner join empty_window
        on scanned.source = empty_window.source
    left anti join change
        on
            scanned.source = change.source
            and scanned.schema_name <=> change.schema_name
            and scanned.table_name = change.table_name
            and change.commit_number
            between empty_window.opened_commit_number and empty_window.commit_number
    union all
    select
        source,
        schema_name,
        table_name,
        null as scan_ended_commit_number,
        commit_number as scan_stopped_commit_number
    from window_signal
    where signal_type = 'stop-snapshot'

),

notification as (

    select
        source,
        split(get_json_object(notification, '$.additional_data.scanned_collection'), '[.]')
            as name_parts,
        {{ decoded_count("get_json_object(notification, '$.timestamp')", 'timestamp', 'millis') }}
            as scanned_at
    from {{ ref('stg_message') }}
    where
        kind = 'notification'
        and source is not null
        and get_json_object(notification, '$.type') = 'TABLE_SCAN_COMPLETED'
        and coalesce(get_json_object(notification, '$.additional_data.status'), 'SUCCEEDED')
        in ('SUCCEEDED', 'EMPTY')

),

message as (

    select
        *,
        has_repeated_names and landing_id > {{ candidate('starting_landing_id') }}
            as is_new_repetition
    from {{ ref('stg_message') }}

),

-- A notification names a table of SQL Server with its database, here a part of the source's name.
told as (

    select
        explode(array(source, concat(source, '.', name_parts[0]))) as source,
        try_element_at(name_parts, -2) as schema_name,
        try_element_at(name_parts, -1) as table_name,
        scanned_at,
        cast(null as bigint) as lost_identity_cut_id,
        cast(null as bigint) as repeated_names_cut_id,
        0L as repeated_names_count,
        cast(null as bigint) as scan_ended_commit_number,
        cast(null as bigint) as scan_stopped_commit_number
    from notification
    where name_parts is not null
    union all
    select
        source,
        schema_name,
        table_name,
        null as scanned_at,
        null as lost_identity_cut_id,
        null as repeated_names_cut_id,
        0L as repeated_names_count,
        scan_ended_commit_number,
        scan_stopped_commit_number
    from scan
    union all
    select
        message.source,
        message.schema_name,
        message.table_name,
        null as scanned_at,
        max(
            case
                when message.quarantine_reason = 'delete_without_identity'
                    then {{ candidate('cut_id') }}L
            end
        ) as lost_identity_cut_id,
        max(case when message.is_new_repetition then {{ candidate('cut_id') }}L end)
            as repeated_names_cut_id,
        count_if(message.is_new_repetition) as repeated_names_count,
        null as scan_ended_commit_number,
        null as scan_stopped_commit_number
    from message
    where
        (message.quarantine_reason = 'delete_without_identity' or message.has_repeated_names)
        and message.source is not null
        and message.table_name is not null
    group by message.source, message.schema_name, message.table_name

),

fact as (

    select
        shown.*,
        shared_key_table.shared_key_commit_number,
        source_connector.connector,
        case
            when shown.initial_commit_number is not null then {{ candidate('cut_id') }}L
        end as initial_cut_id,
        case
            when {{ var('repeated_snapshot_missing_table') == 'keep' }}
                then shown.initial_commit_number
        end as keeping_commit_number,
        cast(null as timestamp) as scanned_at,
        cast(null as bigint) as lost_identity_cut_id,
        cast(null as bigint) as repeated_names_cut_id,
        0L as repeated_names_count,
        cast(null as bigint) as scan_ended_commit_number,
        cast(null as bigint) as scan_stopped_commit_number
    from shown
    inner join source_connector
        on shown.source = source_connector.source
    left join shared_key_table
        on
            shown.source = shared_key_table.source
            and shown.schema_name <=> shared_key_table.schema_name
            and shown.table_name = shared_key_table.table_name
    union all
    select
        source,
        schema_name,
        table_name,
        null as first_commit_number,
        null as first_operation,
        null as initial_commit_number,
        null as twice_read_commit_number,
        null as blocking_commit_number,
        null as first_window_position,
        null as last_window_position,
        null as last_window_commit_number,
        null as last_window_at,
        false as has_rows,
        false as has_key,
        false as has_old_image,
        false as has_truncate,
        null as filler_key_commit_number,
        null as shared_key_commit_number,
        null as connector,
        null as initial_cut_id,
        null as keeping_commit_number,
        scanned_at,
        lost_identity_cut_id,
        repeated_names_cut_id,
        repeated_names_count,
        scan_ended_commit_number,
        scan_stopped_commit_number
    from told
    {% if is_incremental() -%}
    union all
    select built.* except (cut_id)
    from {{ this }} as built
    where built.cut_id = {{ candidate('starting_cut_id') }}
    {%- endif %}

)

select
    -- identity
    fact.source,
    fact.schema_name,
    fact.table_name,

    -- what its changes have shown
    min(fact.first_commit_number) as first_commit_number,
    min_by(fact.first_operation, fact.first_commit_number) as first_operation,
    max(fact.initial_commit_number) as initial_commit_number,
    max(fact.twice_read_commit_number) as twice_read_commit_number,
    max(fact.blocking_commit_number) as blocking_commit_number,
    min(fact.first_window_position) as first_window_position,
    max(fact.last_window_position) as last_window_position,
    max(fact.last_window_commit_number) as last_window_commit_number,
    max(fact.last_window_at) as last_window_at,
    bool_or(fact.has_rows) as has_rows,
    bool_or(fact.has_key) as has_key,
    bool_or(fact.has_old_image) as has_old_image,
    bool_or(fact.has_truncate) as has_truncate,
    max(fact.filler_key_commit_number) as filler_key_commit_number,
    max(fact.shared_key_commit_number) as shared_key_commit_number,
    max(fact.connector) as connector,
    max(fact.initial_cut_id) as initial_cut_id,
    max(fact.keeping_commit_number) as keeping_commit_number,

    -- what other messages have shown
    max(fact.scanned_at) as scanned_at,
    max(fact.lost_identity_cut_id) as lost_identity_cut_id,
    max(fact.repeated_names_cut_id) as repeated_names_cut_id,
    sum(fact.repeated_names_count) as repeated_names_count,
    max(fact.scan_ended_commit_number) as scan_ended_commit_number,
    max(fact.scan_stopped_commit_number) as scan_stopped_commit_number,

    -- provenance
    {{ candidate('cut_id') }}L as cut_id
from fact
group by fact.source, fact.schema_name, fact.table_name
