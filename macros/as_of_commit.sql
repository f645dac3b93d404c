{#-
    The rows of a captured table as one commit left them, from its history: a model of this project, or its public view.
    Sources number their commits each for itself: where a history holds several, name one. The query fails if versions
    that the commit had are removed (keep_version_days), of any source unless one is named: a history does not say of which
    sources its removed versions were. The check gives a bound for a column of the history. Otherwise Spark could leave it
    out where a history has no rows.

    >>> as_of_commit('public.orders_history', 300).split('\n')[5].strip()
    and (versions._valid_to > 300 or versions._valid_to is null)

    >>> as_of_commit('public.orders_history', 300, source_name='shop').split('\n')[6].strip()
    and versions._change.source = 'shop'
-#}
{%- macro as_of_commit(history, commit_number, source_name=none) -%}
(
    select versions.*
    from {{ history }} as versions
    where
        versions._valid_from <= {{ commit_number }}
        and (versions._valid_to > {{ commit_number }} or versions._valid_to is null)
        {{ 'and versions._change.source = ' ~ string_literal(source_name) if source_name is not none }}
        and versions._valid_from <= (
            select
                coalesce(max(
                    case
                        when kept.history_from > {{ commit_number }}
                            then raise_error(concat(
                                'as_of_commit: commit ', {{ commit_number }}, ' of ', kept.source, ' cannot be shown, because older versions are removed; '
                                'ask for commit ', kept.history_from, ' or a later one{{ ', or give source_name if the rows are of another source' if source_name is none }}'
                            ))
                        else {{ commit_number }}
                    end
                ), {{ commit_number }})
            from (select inline(source_cuts) from {{ source('pointer', 'cut') }} where channel = 'published') as kept
            {{ 'where kept.source = ' ~ string_literal(source_name) if source_name is not none }}
        )
)
{%- endmacro -%}
