with

expected as (

    {{ expected_tables() }}

),

-- Tables that have changes, or are said to have some, which wait for something else.
held_table as (

    select
        source,
        data_collection
    from {{ ref('held_message') }}
    where cut_id = {{ candidate('cut_id') }} and data_collection is not null
    group by source, data_collection
    union all
    select
        source,
        explode(miscounted_tables.data_collection) as data_collection
    from {{ ref('held_transaction') }}

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
                    fact.change_positions,
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
                fact.default_commit_number > coalesce(fact.initial_commit_number, 0),
                'dropped_or_not_captured',
                fact.first_commit_number is not null and fact.latest_change_type = 'DROP'
            ),
            (flag, is_raised) -> is_raised
        )) as (flag, is_raised)
    from {{ ref('int_table_evidence') }} as fact
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
    left anti join {{ ref('int_table_fact') }} as fact
        on
            int_cut.source = fact.source
            and expected.schema_name <=> fact.schema_name
            and expected.table_name = fact.table_name
            and fact.first_commit_number is not null
            and fact.cut_id = {{ candidate('cut_id') }}
    -- What is held will be seen, so the hold says all.
    left anti join held_table
        on
            int_cut.source = held_table.source
            and {{ table_suffix('held_table.data_collection') }}
            = concat('.', concat_ws('.', expected.schema_name, expected.table_name))
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
