{#- Takes back what a run wrote into a history and did not publish. Readers of the published cut see no difference. -#}
{%- macro remove_unpublished_versions(history) -%}
    {%- call statement('remove_unpublished_versions') -%}
        merge into {{ history }} as built
        using (
            select
                versions._source as source,
                coalesce(max(starting.commit_number), 0) as commit_number
            from {{ history }} as versions
            left join {{ ref('int_starting_commit') }} as starting
                on versions._source = starting.source
            group by versions._source
        ) as published
        on
            built._source = published.source
            and (built._valid_from > published.commit_number or built._valid_to > published.commit_number)
        when matched and built._valid_from > published.commit_number then delete
        when matched then update set _valid_to = null
    {%- endcall -%}
{%- endmacro -%}
