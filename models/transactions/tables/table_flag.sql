with

-- With the newest initial snapshot of its source; 0 where there was none.
fact_of_source as (

    select
        built.*,
        coalesce(max(built.initial_commit_number) over by_source, 0) as snapshot_commit_number,
        coalesce(max(built.initial_cut_id) over by_source, 0) as snapshot_cut_id,
        coalesce(max(built.keeping_commit_number) over by_source, 0) as kept_commit_number,
        -- The connector reads one table after the other.
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

default_added as (

    select
        seen.source,
        seen.schema_name,
        seen.table_name,
        max(seen.commit_number) as commit_number
    from {{ ref('schema_change') }} as seen
    where
        seen.cut_id <= {{ candidate('cut_id') }}
        and seen.change_kind = 'column_added'
        and seen.has_default
    group by seen.source, seen.schema_name, seen.table_name

),

expected as (

    {{ expected_tables() }}

),

-- Tables whose models name the columns that tell rows apart.
identified as (

    select
        schema_name,
        table_name,
        collect_list(source_pattern) as source_patterns
    from expected
    where has_identity
    group by schema_name, table_name

),

fact as (

    select
        fact_of_source.*,
        fact_of_source.last_window_commit_number > fact_of_source.snapshot_commit_number
            as has_windows,
        greatest(
            fact_of_source.scan_ended_commit_number, fact_of_source.source_window_commit_number
        ) > fact_of_source.last_window_commit_number
        and fact_of_source.stopped_commit_number < fact_of_source.last_window_commit_number
            as is_scanned,
        coalesce(exists(
            identified.source_patterns, pattern -> rlike(fact_of_source.source, pattern)
        ), false) as is_identified
    from fact_of_source
    left join identified
        on
            fact_of_source.schema_name <=> identified.schema_name
            and fact_of_source.table_name = identified.table_name

),

-- Why a table may differ from its source although every proof holds (S23).
known_flag as (

    select
        fact.source,
        fact.schema_name,
        fact.table_name,
        explode(map_filter(
            map(
                'no_baseline',
                fact.first_commit_number > fact.snapshot_commit_number
                and fact.initial_commit_number is null
                -- A table that came to the source later is created empty, or captured with rows.
                and (
                    fact.snapshot_commit_number = 0
                    or fact.first_operation in ({{ op('update') }}, {{ op('delete') }})
                )
                and fact.blocking_commit_number is null
                and fact.first_window_position is null
                and not fact.has_truncate,
                'snapshot_may_be_torn',
                fact.connector in ('db2', 'sqlserver', 'generic')
                and fact.initial_commit_number is not null,
                'snapshot_may_double_rows',
                not fact.has_key
                and not fact.is_identified
                and (
                    (
                        fact.connector in ('db2', 'sqlserver', 'generic')
                        and fact.initial_commit_number is not null
                    )
                    or fact.twice_read_commit_number = fact.initial_commit_number
                    -- Such reads are of rows that are there already, and say not of which.
                    or fact.blocking_commit_number is not null
                    or fact.first_window_position is not null
                ),
                'snapshot_not_finished',
                fact.has_windows
                and not fact.is_scanned
                and coalesce(fact.scanned_at < fact.last_window_at, true),
                'deletes_may_be_missing',
                fact.has_windows and fact.connector not in ('postgresql', 'mysql'),
                'schema_changed_in_snapshot',
                fact.has_windows
                and fact.connector = 'db2'
                and exists(
                    announced.change_positions,
                    position -> position > fact.first_window_position
                    and position < fact.last_window_position
                ),
                'not_in_latest_snapshot',
                fact.kept_commit_number = fact.snapshot_commit_number
                and fact.first_commit_number < fact.snapshot_commit_number
                and coalesce(fact.initial_commit_number, 0) < fact.snapshot_commit_number,
                'append_only',
                fact.connector = 'postgresql'
                and fact.has_rows
                and not fact.has_key
                and not fact.is_identified
                and not fact.has_old_image,
                'identity_not_in_key',
                fact.connector = 'postgresql'
                and fact.filler_key_commit_number > fact.snapshot_commit_number
                and not fact.is_identified,
                'key_not_unique',
                fact.shared_key_commit_number >= fact.snapshot_commit_number
                and not fact.is_identified,
                'identity_lost',
                fact.lost_identity_cut_id >= fact.snapshot_cut_id,
                'repeated_names',
                fact.repeated_names_cut_id >= fact.snapshot_cut_id,
                'schema_default',
                default_added.commit_number > coalesce(fact.initial_commit_number, 0),
                'dropped_or_not_captured',
                fact.first_commit_number is not null and announced.latest_change_type = 'DROP'
            ),
            (flag, is_raised) -> is_raised
        )) as (flag, is_raised)
    from fact
    left join announced
        on
            fact.source = announced.source
            and fact.schema_name <=> announced.schema_name
            and fact.table_name = announced.table_name
    left join default_added
        on
            fact.source = default_added.source
            and fact.schema_name <=> default_added.schema_name
            and fact.table_name = default_added.table_name
    union all
    select
        int_cut.source,
        expected.schema_name,
        expected.table_name,
        'nothing_seen' as flag,
        true as is_raised
    from {{ ref('int_cut') }} as int_cut
    inner join expected
        on rlike(int_cut.source, expected.source_pattern)
    left anti join fact
        on
            int_cut.source = fact.source
            and expected.schema_name <=> fact.schema_name
            and expected.table_name = fact.table_name
            and fact.first_commit_number is not null
    group by int_cut.source, expected.schema_name, expected.table_name

)

select
    -- identity
    source,
    schema_name,
    table_name,
    case
        when {{ matches_any('flag', var('refused_flags')) }}
            then raise_error(concat(
                concat_ws('.', schema_name, table_name), ' of ', source, ': is flagged ', flag,
                ', which refused_flags names; see the runbook, or take it out of refused_flags'
            ))
        else flag
    end as flag
from known_flag
