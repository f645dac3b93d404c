{#-
    The rows of a captured table as one commit left them, from its history: a model of this project, or its public view.
    Sources number their commits each for itself: where a history holds several, name one.

    >>> as_of_commit('public.orders_history', 300)
    (
        select versions.*
        from public.orders_history as versions
        where
            versions._valid_from <= 300
            and (versions._valid_to > 300 or versions._valid_to is null)
    )

    >>> as_of_commit('public.orders_history', 300, source_name='shop').split('\n')[-2].strip()
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
)
{%- endmacro -%}
