with

source_connector as (

    select
        source,
        max(connector) as connector
    from {{ ref('stg_message') }}
    where kind in ('change', 'schema_change')
    group by source

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
    from {{ ref('int_new_change') }}
    group by source, schema_name, table_name

)

select
    shown.*,

    -- what else is known
    shared_key.shared_key_commit_number,
    source_connector.connector,
    case
        when shown.initial_commit_number is not null then {{ candidate('cut_id') }}L
    end as initial_cut_id,
    case
        when {{ var('repeated_snapshot_missing_table') == 'keep' }}
            then shown.initial_commit_number
    end as keeping_commit_number
from shown
inner join source_connector
    on shown.source = source_connector.source
left join {{ ref('int_shared_key') }} as shared_key
    on
        shown.source = shared_key.source
        and shown.schema_name <=> shared_key.schema_name
        and shown.table_name = shared_key.table_name
