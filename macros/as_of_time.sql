{#-
    The rows of a captured table as they were at a time, from its history and the commits: public views, or models of
    this project. Of each source it takes the newest commit, in the order of commits, that was made at that time or
    before it. A source's clock may go back: a commit before that one counts even when its own time is later. A source
    that had not committed yet has no rows. The query fails if versions that such a commit had are removed
    (keep_version_days), of any source unless one is named: a history does not say of which sources its removed versions
    were. The check gives a bound for a column of the history. Otherwise Spark could leave it out where a history has no
    rows.

    >>> as_of_time('public.orders_history', '2026-11-21 02:36:50', 'public.commit').split('\n')[6].strip()
    where commits.committed_at <= timestamp '2026-11-21 02:36:50'
-#}
{%- macro as_of_time(history, at, commits, source_name=none) -%}
(
    with newest as (
        select
            commits.source,
            max(commits.commit_number) as commit_number
        from {{ commits }} as commits
        where commits.committed_at <= timestamp {{ string_literal(at) }}
        group by commits.source
    )
    select versions.*
    from newest
    inner join {{ history }} as versions
        on
            newest.source = versions._change.source
            and newest.commit_number >= versions._valid_from
            and (newest.commit_number < versions._valid_to or versions._valid_to is null)
    where
        versions._valid_from <= (
            select
                max(
                    case
                        when kept.history_from > newest.commit_number
                            then raise_error(concat(
                                'as_of_time: ', kept.source, ' cannot be shown at that time, because older versions are removed; '
                                'ask for ', kept.history_from_at, ' or a later time{{ ', or give source_name if the rows are of another source' if source_name is none }}'
                            ))
                        else newest.commit_number
                    end
                )
            from newest
            left join (select inline(source_cuts) from {{ source('pointer', 'cut') }} where channel = 'published') as kept
                on newest.source = kept.source
            {{ 'where newest.source = ' ~ string_literal(source_name) if source_name is not none }}
        )
        {{ 'and newest.source = ' ~ string_literal(source_name) if source_name is not none }}
)
{%- endmacro -%}
