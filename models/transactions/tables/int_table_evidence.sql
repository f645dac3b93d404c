with

-- Each table with the newest initial snapshot of its source, or 0.
fact_of_source as (

    select
        built.*,
        coalesce(max(built.initial_commit_number) over by_source, 0) as snapshot_commit_number,
        coalesce(max(built.initial_cut_id) over by_source, 0) as snapshot_cut_id,
        coalesce(max(built.keeping_commit_number) over by_source, 0) as kept_commit_number,
        -- The connector reads one table after the other, so a later window shows that a scan ended.
        max(built.last_window_commit_number) over by_source as source_window_commit_number,
        coalesce(max(built.scan_stopped_commit_number) over by_source, 0) as stopped_commit_number
    from {{ ref('int_table_fact') }} as built
    where built.cut_id = {{ candidate('cut_id') }}
    window by_source as (partition by built.source)

),

announced as (

    select
        source,
        schema_name,
        table_name,
        max_by(change_type, struct(landing_id, `offset`, place)) as latest_change_type,
        collect_list(event_position) as change_positions
    from {{ ref('stg_schema_change') }}
    where table_name is not null
    group by source, schema_name, table_name

),

-- A table of signals to the connector is no table (S10).
signal_table as (

    select
        topic_source as source,
        data_collections[0] as data_collection
    from {{ ref('partition_progress') }}
    where
        cut_id = {{ candidate('cut_id') }}
        and has_signals
        and size(data_collections) = 1
    group by topic_source, data_collections[0]

),

-- Tables whose models name the columns that tell rows apart.
identified as (

    select
        schema_name,
        table_name,
        collect_list(source_pattern) as source_patterns
    from (
        {{ expected_tables() }}
    )
    where has_identity
    group by schema_name, table_name

)

select
    fact.*,  -- noqa: AM04

    -- what other messages have shown
    announced.latest_change_type,
    announced.change_positions,
    changed_table.default_commit_number,
    changed_table.renamed_commit_number,
    changed_table.converted_commit_number,
    changed_table.other_key_commit_number,

    -- what follows
    fact.last_window_commit_number > fact.snapshot_commit_number as has_windows,
    greatest(fact.scan_ended_commit_number, fact.source_window_commit_number)
    > fact.last_window_commit_number
    and fact.stopped_commit_number < fact.last_window_commit_number as is_scanned,
    coalesce(
        exists(identified.source_patterns, pattern -> rlike(fact.source, pattern)), false
    ) as is_identified
from fact_of_source as fact
left join identified
    on
        fact.schema_name <=> identified.schema_name
        and fact.table_name = identified.table_name
left join announced
    on
        fact.source = announced.source
        and fact.schema_name <=> announced.schema_name
        and fact.table_name = announced.table_name
left join {{ ref('int_changed_table') }} as changed_table
    on
        fact.source = changed_table.source
        and fact.schema_name <=> changed_table.schema_name
        and fact.table_name = changed_table.table_name
left anti join signal_table
    on
        fact.source = signal_table.source
        and {{ is_called('signal_table.data_collection', 'fact.schema_name', 'fact.table_name') }}
