{#-
    Says what this run builds: the next cut, all that has landed, and the published cut it starts from.
    A run that published nothing leaves its cut number to the next one, which overwrites what it built.
-#}
{%- macro open_cut() -%}
    {%- if execute and flags.WHICH in ['run', 'build'] -%}
        {%- do create_pointer_tables() -%}
        {%- set starting = 0 if flags.FULL_REFRESH else 1 -%}
        {%- call statement('open_cut') -%}
            insert overwrite {{ source('pointer', 'cut') }}
            select
                channel, cut_id, landing_id, starting_cut_id, starting_landing_id, is_clean, source_cuts
            from {{ source('pointer', 'cut') }}
            where channel = 'published'
            union all
            select
                'candidate',
                coalesce(max(case when cut.channel = 'published' then cut.cut_id end), 0) + 1,
                (select coalesce(max(message.landing_id), 0) from {{ source('landing', 'message') }} as message),
                {{ starting }} * coalesce(max(case when cut.channel = 'published' then cut.cut_id end), 0),
                {{ starting }} * coalesce(max(case when cut.channel = 'published' then cut.landing_id end), 0),
                coalesce(
                    max(case when cut.channel = 'published' then cut.cut_id end)
                    = max(case when cut.channel = 'candidate' then cut.cut_id end),
                    true
                ),
                {% if flags.FULL_REFRESH -%}
                cast(array() as {{ source_cuts_type() }})
                {%- else -%}
                coalesce(
                    max_by(cut.source_cuts, cut.cut_id) filter (where cut.channel = 'published'),
                    cast(array() as {{ source_cuts_type() }})
                )
                {%- endif %}
            from {{ source('pointer', 'cut') }} as cut
        {%- endcall -%}
    {%- endif -%}
{%- endmacro -%}
