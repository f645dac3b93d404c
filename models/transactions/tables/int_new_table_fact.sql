with

notification as (

    select
        source,
        split(get_json_object(notification, '$.additional_data.scanned_collection'), '[.]')
            as name_parts,
        {{ decoded_count("get_json_object(notification, '$.timestamp')", 'timestamp', 'millis') }}
            as scanned_at
    from {{ ref('stg_message') }}
    where
        {{ run_has('notification') }}
        and kind = 'notification'
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

)

-- A notification names a table of SQL Server with its database, here a part of the source's name.
select
    -- identity
    explode(array(source, concat(source, '.', name_parts[0]))) as source,
    try_element_at(name_parts, -2) as schema_name,
    try_element_at(name_parts, -1) as table_name,

    -- what is told of it
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
from {{ ref('int_table_scan') }}
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
    {{ run_has('lost_identity', 'repeated_names') }}
    and (message.quarantine_reason = 'delete_without_identity' or message.has_repeated_names)
    and message.source is not null
    and message.table_name is not null
group by message.source, message.schema_name, message.table_name
