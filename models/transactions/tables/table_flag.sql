with

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
                'column_renamed',
                fact.renamed_commit_number > coalesce(fact.initial_commit_number, 0),
                'type_converted',
                fact.converted_commit_number > coalesce(fact.initial_commit_number, 0),
                'key_changed',
                fact.other_key_commit_number > coalesce(fact.initial_commit_number, 0)
                and not fact.is_identified,
                'not_waited_for',
                fact.first_commit_number is not null
                and {{ matches_any(
                    "concat_ws('.', fact.schema_name, fact.table_name)", var('not_ingested_tables')
                ) }},
                'dropped_or_not_captured',
                fact.first_commit_number is not null and fact.latest_change_type = 'DROP'
            ),
            (flag, is_raised) -> is_raised
        )) as (flag, is_raised)
    from {{ ref('int_table_evidence') }} as fact
    union all
    select
        *,
        'nothing_seen' as flag,
        true as is_raised
    from {{ ref('int_unseen_table') }}

),

-- In what operators have accepted, * stands for any text.
accepted_flag as (

    select
        source,
        array_agg(concat(
            '(?s)^\\Q',
            replace(replace(transaction_id, '\\E', '\\E\\\\E\\Q'), '*', '\\E.*\\Q'),
            '\\E$'
        )) as patterns
    from {{ ref('operator_decision') }}
    where decision = 'accept'
    group by source

)

select
    -- identity
    named.source,
    named.schema_name,
    named.table_name,
    case
        when
            {{ matches_any('named.flag', var('refused_flags')) }}
            and not coalesce(
                exists(
                    accepted_flag.patterns,
                    pattern -> rlike(
                        concat(
                            'flag ', named.flag, ' of ',
                            concat_ws('.', named.schema_name, named.table_name)
                        ),
                        pattern
                    )
                ),
                false
            )
            then raise_error(concat(
                concat_ws('.', named.schema_name, named.table_name), ' of ', named.source,
                ': is flagged ', named.flag,
                ', which refused_flags names; see the runbook, or take it out of refused_flags'
            ))
        else named.flag
    end as flag
from known_flag as named
left join accepted_flag
    on named.source = accepted_flag.source
