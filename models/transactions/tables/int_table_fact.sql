with

fact as (

    select
        *,
        cast(null as timestamp) as scanned_at,
        cast(null as bigint) as lost_identity_cut_id,
        cast(null as bigint) as repeated_names_cut_id,
        0L as repeated_names_count,
        cast(null as bigint) as scan_ended_commit_number,
        cast(null as bigint) as scan_stopped_commit_number
    from {{ ref('int_shown_table') }}
    {%- if run_has('notification', 'signal', 'lost_identity', 'repeated_names') %}
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
    from {{ ref('int_new_table_fact') }}
    {%- endif %}
    {%- if is_incremental() %}
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
