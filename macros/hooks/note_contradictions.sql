{#-
    Notes the transaction in which a keyless table of this run, which has failed, was to lose a row that it does not
    hold (S12): the next run holds it, and continues with what is before it and with the other sources. What readers see
    is not noted, since a published cut is never taken back.
-#}
{%- macro note_contradictions(results, commits) -%}
    {%- for result in results if result.status == 'error' -%}
        {%- set found = modules.re.search(
            '(?s)commit ([0-9]+) of (.*?): takes a row that the keyless table (.*?) does not hold', result.message or ''
        ) -%}
        {%- if found -%}
            {%- set query -%}
                select made.transaction_id
                from {{ commits }} as made
                left join (
                    select inline(source_cuts) from {{ source('pointer', 'cut') }} where channel = 'published'
                ) as published
                    on made.source = published.source
                where
                    made.cut_id = {{ candidate('cut_id') }}
                    and made.source = {{ string_literal(found[2]) }}
                    and made.commit_number = {{ found[1] }}
                    and made.commit_number > coalesce(published.commit_number, 0)
                    and made.transaction_id is not null
            {%- endset -%}
            {%- for row in run_query(query).rows -%}
                {%- call statement('note_contradiction') -%}
                    insert into {{ source('pointer', 'contradiction') }}
                    values ({{ string_literal(found[2]) }}, {{ string_literal(row[0]) }})
                {%- endcall -%}
                {%- do print_line(
                    found[2] ~ ': the next run holds transaction ' ~ row[0]
                    ~ ', which takes a row that ' ~ found[3] ~ ' does not hold'
                ) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}
