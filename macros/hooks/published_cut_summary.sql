{#- One sentence per source of the candidate, in order of name. -#}
{%- macro published_cut_summary(int_cut, starting_commit, message_count, held_transaction, table_flag) -%}
    with

    counted as (

        select
            source,
            sum(case when outcome = 'quarantined' then message_count else 0 end) as quarantined_count
        from {{ message_count }}
        where cut_id = (
            select max(cut.cut_id) from {{ source('pointer', 'cut') }} as cut where cut.channel = 'candidate'
        )
        and source != ''
        group by source

    ),

    held as (

        select
            source,
            count(*) as held_count,
            count_if(startswith(held_reason, 'follows_')) as waiting_count,
            -- The first cause: what follows it only waits.
            min_by(held_reason, struct(startswith(held_reason, 'follows_'), log_order is null, log_order, commit_position is null))
                as first_reason
        from {{ held_transaction }}
        group by source

    ),

    flagged as (

        select
            source,
            count(distinct struct(schema_name, table_name)) as flagged_count,
            min(concat(concat_ws('.', schema_name, table_name), ': ', flag)) as first_flag
        from {{ table_flag }}
        group by source

    )

    select
        concat(
            coalesce(cut.source, counted.source), ': commit ', coalesce(starting.commit_number, 0), ' -> ',
            coalesce(cut.commit_number, 0), ', ', coalesce(cut.new_commit_count, 0), ' published, ',
            coalesce(held.held_count, 0), ' held', coalesce(
                concat(
                    ' (first ', held.first_reason,
                    case when held.waiting_count > 0 then concat(', ', held.waiting_count, ' only wait') else '' end, ')'
                ),
                ''
            ), ', ',
            coalesce(counted.quarantined_count, 0), ' quarantined',
            coalesce(concat(', ', flagged.flagged_count, ' flagged (', flagged.first_flag, ')'), '')
        ) as line
    from {{ int_cut }} as cut
    full join counted
        on cut.source = counted.source
    left join {{ starting_commit }} as starting
        on cut.source = starting.source
    left join held
        on coalesce(cut.source, counted.source) = held.source
    left join flagged
        on coalesce(cut.source, counted.source) = flagged.source
    order by line
{%- endmacro -%}
