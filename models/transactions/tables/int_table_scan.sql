with

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
    inner join {{ ref('proof') }} as new_commit
        on
            message.source = new_commit.source
            and message.unit_kind = new_commit.unit_kind
            and message.unit_id = new_commit.unit_id
            and new_commit.cut_id = {{ candidate('cut_id') }}
            and new_commit.kind = 'unit'
            and new_commit.verdict = 'commit'
    where
        {{ run_has('signal') }}
        and message.kind = 'change'
        and message.signal_type in (
            'snapshot-window-open', 'snapshot-window-close', 'stop-snapshot'
        )
        and message.copy_number = 1

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
    left anti join {{ ref('int_new_change') }} as placed
        on
            window_signal.source = placed.source
            and window_signal.commit_number = placed.commit_number
            and placed.read_in = 'transaction'
    where
        window_signal.signal_type = 'snapshot-window-close'
        and window_signal.opened_commit_number is not null

),

scanned_table as (

    select
        source,
        schema_name,
        table_name
    from {{ ref('int_new_change') }}
    where read_in = 'transaction'
    group by source, schema_name, table_name
    {%- if candidate('starting_cut_id') | int > 0 %}
    union distinct
    select
        source,
        schema_name,
        table_name
    from {{ source('pointer', 'int_table_fact') }}
    where
        cut_id = {{ candidate('starting_cut_id') }}
        and last_window_commit_number is not null
    {%- endif %}

)

select
    -- identity
    scanned.source,
    scanned.schema_name,
    scanned.table_name,

    -- what its windows have shown
    empty_window.commit_number as scan_ended_commit_number,
    cast(null as bigint) as scan_stopped_commit_number
from scanned_table as scanned
inner join empty_window
    on scanned.source = empty_window.source
left anti join {{ ref('int_new_change') }} as placed
    on
        scanned.source = placed.source
        and scanned.schema_name <=> placed.schema_name
        and scanned.table_name = placed.table_name
        and placed.commit_number
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
