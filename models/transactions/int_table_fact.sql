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
        source_connector.connector,
        new_commit.commit_position,
        placed.transaction_id is null
        and new_commit.link_kind = 'initial_snapshot' as is_initial_read,
        placed.transaction_id is null and new_commit.link_kind = 'transaction' as is_window_read
    from {{ ref('int_change') }} as placed
    inner join candidate
        on placed.cut_id = candidate.cut_id
    inner join new_commit
        on
            placed.source = new_commit.source
            and placed.commit_number = new_commit.commit_number
    inner join source_connector
        on placed.source = source_connector.source
    where placed.topic is not null and placed.table_name is not null

),

message as (

    select
        source,
        schema_name,
        table_name,
        quarantine_reason,
        get_json_object(notification, '$.type') as told_type,
        get_json_object(notification, '$.additional_data.scanned_collection')
            as scanned_collection,
        {{ decoded_count("get_json_object(notification, '$.timestamp')", 'timestamp', 'millis') }}
            as scanned_at
    from {{ ref('stg_message') }}
    where kind in ('notification', 'quarantined')

),

-- It names a table of SQL Server with its database, which belongs to the source's name here.
scan as (

    select
        source,
        scanned_at,
        split(scanned_collection, '[.]') as name_parts
    from message
    where told_type = 'TABLE_SCAN_COMPLETED' and scanned_collection is not null

),

fact as (

    select
        source,
        schema_name,
        table_name,
        max(connector) as connector,
        min(commit_number) as first_commit_number,
        max(commit_number) filter (where is_initial_read) as initial_commit_number,
        min(commit_position) filter (where is_window_read) as first_window_position,
        max(commit_position) filter (where is_window_read) as last_window_position,
        max(commit_number) filter (where is_window_read) as window_commit_number,
        max(committed_at) filter (where is_window_read) as window_at,
        cast(null as timestamp) as scanned_at,
        bool_or(row_key is not null) as has_key,
        bool_or(before is not null) as has_old_image,
        bool_or(operation = {{ op('truncate') }}) as has_truncate,
        false as has_lost_identity
    from change
    group by source, schema_name, table_name
    union all
    select
        explode(array(source, concat(source, '.', name_parts[0]))) as source,
        try_element_at(name_parts, -2) as schema_name,
        try_element_at(name_parts, -1) as table_name,
        null as connector,
        null as first_commit_number,
        null as initial_commit_number,
        null as first_window_position,
        null as last_window_position,
        null as window_commit_number,
        null as window_at,
        scanned_at,
        false as has_key,
        false as has_old_image,
        false as has_truncate,
        false as has_lost_identity
    from scan
    union all
    select
        source,
        schema_name,
        table_name,
        null as connector,
        null as first_commit_number,
        null as initial_commit_number,
        null as first_window_position,
        null as last_window_position,
        null as window_commit_number,
        null as window_at,
        null as scanned_at,
        false as has_key,
        false as has_old_image,
        false as has_truncate,
        true as has_lost_identity
    from message
    where quarantine_reason = 'delete_without_identity' and table_name is not null
    {% if is_incremental() -%}
    union all
    select built.* except (cut_id)
    from {{ this }} as built
    inner join candidate
        on built.cut_id = candidate.starting_cut_id
    {%- endif %}

)

select
    -- identity
    fact.source,
    fact.schema_name,
    fact.table_name,

    -- what its changes have shown
    max(fact.connector) as connector,
    min(fact.first_commit_number) as first_commit_number,
    max(fact.initial_commit_number) as initial_commit_number,
    min(fact.first_window_position) as first_window_position,
    max(fact.last_window_position) as last_window_position,
    max(fact.window_commit_number) as window_commit_number,
    max(fact.window_at) as window_at,
    max(fact.scanned_at) as scanned_at,
    bool_or(fact.has_key) as has_key,
    bool_or(fact.has_old_image) as has_old_image,
    bool_or(fact.has_truncate) as has_truncate,
    bool_or(fact.has_lost_identity) as has_lost_identity,

    -- provenance
    max(candidate.cut_id) as cut_id
from fact
cross join candidate
group by fact.source, fact.schema_name, fact.table_name
