{#-
    Notes the transactions and snapshots on which a history of this run has failed (S12): until its model says something
    else, the next runs hold them, and continue with what is before them and with the other sources. What readers see is
    not noted, since a published cut is never taken back.
-#}
{%- macro note_failed_transactions(results, commits, changes, shapes, schema_changes) -%}
    {%- for result in results if result.status == 'error' and result.node.config.get('meta', {}).get('captured') -%}
        {%- set captured = result.node.config.meta.captured -%}
        {%- set table = full_table_name(captured) -%}
        {%- for reason, failing in failing_commits(result, captured, changes, shapes, schema_changes).items() -%}
            {%- set query -%}
                {{ failing }}
                select
                    failing.source,
                    coalesce(made.transaction_id, {{ snapshot_id('made.snapshot_position') }}) as what,
                    {{ shown_transaction('what') }}
                from failing
                inner join {{ commits }} as made
                    on failing.source = made.source and failing.commit_number = made.commit_number
                left join (
                    select inline(source_cuts) from {{ source('pointer', 'cut') }} where channel = 'published'
                ) as published
                    on made.source = published.source
                where
                    made.cut_id = {{ candidate('cut_id') }}
                    and made.commit_number > coalesce(published.commit_number, 0)
            {%- endset -%}
            {%- for row in run_query(query).rows -%}
                {%- call statement('note_failed_transaction') -%}
                    insert into {{ source('pointer', 'failed_transaction') }}
                    values (
                        {{ string_literal(row[0]) }}, {{ string_literal(row[1]) }}, '{{ reason }}',
                        {{ string_literal(table) }}, '{{ captured_mark(captured) }}'
                    )
                {%- endcall -%}
                {%- do print_line(
                    row[0] ~ ': the next run holds ' ~ row[2] ~ ', which ' ~ result.node.name ~ ' cannot take (' ~ reason ~ ')'
                ) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro -%}
