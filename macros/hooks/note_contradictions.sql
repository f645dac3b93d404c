{#-
    Notes the transaction in which a keyless table of this run, which has failed, was to lose a row that it does not
    hold (S12): the next run holds it, and continues with what is before it and with the other sources. What readers see
    is not noted, since a published cut is never taken back. Sources and tables may be called like our own errors, so the
    model's query up to its missing rows is asked, and not its message.
-#}
{%- macro note_contradictions(results, commits) -%}
    {%- set step = '\n\nrow_change as (\n' -%}
    {%- for result in results
        if result.status == 'error'
        and 'takes a row that the keyless table' in (result.message or '')
        and '\nmissing_row as (\n' in (result.node.compiled_code or '').partition(step)[0] -%}
        {%- set query -%}
            {{ result.node.compiled_code.partition(step)[0].rstrip().rstrip(',') }}

            select missing_row.source, made.transaction_id
            from missing_row
            inner join {{ commits }} as made
                on missing_row.source = made.source and missing_row.first_commit_number = made.commit_number
            left join (
                select inline(source_cuts) from {{ source('pointer', 'cut') }} where channel = 'published'
            ) as published
                on made.source = published.source
            where
                made.cut_id = {{ candidate('cut_id') }}
                and made.commit_number > coalesce(published.commit_number, 0)
                and made.transaction_id is not null
        {%- endset -%}
        {%- for row in run_query(query).rows -%}
            {%- call statement('note_contradiction') -%}
                insert into {{ source('pointer', 'contradiction') }}
                values ({{ string_literal(row[0]) }}, {{ string_literal(row[1]) }})
            {%- endcall -%}
            {%- do print_line(
                row[0] ~ ': the next run holds transaction ' ~ row[1] ~ ', which takes a row that '
                ~ result.node.name ~ ' does not hold'
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro -%}
