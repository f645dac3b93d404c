{#-
    The rows of a captured table as they were at a time, from its history and the commits: public views, or models of
    this project. Of each source it takes the newest commit, in the order of commits, that was made at that time or
    before it. A source's clock may go back: a commit before that one counts even when its own time is later. A source
    that had not committed yet has no rows.

    >>> as_of_time('public.orders_history', '2026-11-21 02:36:50', 'public.commit')
    (
        select versions.*
        from (
            select
                commits.source,
                max(commits.commit_number) as commit_number
            from public.commit as commits
            where commits.committed_at <= timestamp '2026-11-21 02:36:50'
            group by commits.source
        ) as newest
        inner join public.orders_history as versions
            on
                newest.source = versions._change.source
                and newest.commit_number >= versions._valid_from
                and (newest.commit_number < versions._valid_to or versions._valid_to is null)
    )
-#}
{%- macro as_of_time(history, at, commits) -%}
(
    select versions.*
    from (
        select
            commits.source,
            max(commits.commit_number) as commit_number
        from {{ commits }} as commits
        where commits.committed_at <= timestamp {{ string_literal(at) }}
        group by commits.source
    ) as newest
    inner join {{ history }} as versions
        on
            newest.source = versions._change.source
            and newest.commit_number >= versions._valid_from
            and (newest.commit_number < versions._valid_to or versions._valid_to is null)
)
{%- endmacro -%}
