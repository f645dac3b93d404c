{#-
    The public views of the cut itself: published_cut, one row per source with how much is held, quarantined and
    flagged, and commit, one row per published commit.
    The pointer stands first, see create_pointed_view. See shown_position.
-#}
{%- macro create_cut_views(commits, message_count, held_transaction, table_flag) -%}
    {%- set published_cut = public_relation('published_cut') -%}
    {%- if load_relation(published_cut) is none -%}
        {%- do create_schema(published_cut) -%}
        {%- call statement('create_commit_view') -%}
            create or replace view {{ public_relation('commit') }} as
            with pointer as (
                select inline(cut.source_cuts) from {{ source('pointer', 'cut') }} as cut where cut.channel = 'published'
            )
            select
                commits.source,
                commits.commit_number,
                {{ shown_position('commits.commit_position') }} as commit_position,
                commits.transaction_id,
                commits.committed_at,
                commits.proof
            from pointer
            inner join {{ commits }} as commits
                on pointer.source = commits.source and commits.commit_number <= pointer.commit_number
        {%- endcall -%}
        {#- Last, since it tells the next run that both are there. -#}
        {%- call statement('create_published_cut_view') -%}
            create or replace view {{ published_cut }} as
            with pointer as (
                select cut.cut_id, explode(cut.source_cuts) as source_cut
                from {{ source('pointer', 'cut') }} as cut
                where cut.channel = 'published'
            ),
            held as (
                select cut_id, source, count(*) as held_count
                from {{ held_transaction }}__stored
                group by cut_id, source
            ),
            quarantined as (
                select
                    cut_id,
                    source,
                    sum(case when outcome = 'quarantined' then message_count else 0 end) as quarantined_count
                from {{ message_count }}
                group by cut_id, source
            ),
            flagged as (
                select cut_id, source, count(distinct struct(schema_name, table_name)) as flagged_count
                from {{ table_flag }}__stored
                group by cut_id, source
            )
            select
                source_cut.source,
                source_cut.commit_number,
                {{ shown_position('source_cut.commit_position') }} as commit_position,
                source_cut.transaction_id,
                source_cut.committed_at,
                source_cut.proof,
                source_cut.decisions,
                coalesce(held.held_count, 0) as held_count,
                -- A full refresh counts again, and until it is published nothing is known of the published cut.
                quarantined.quarantined_count,
                coalesce(flagged.flagged_count, 0) as flagged_count,
                source_cut.history_from,
                source_cut.history_from_at,
                pointer.cut_id
            from pointer
            left join held
                on pointer.cut_id = held.cut_id and source_cut.source = held.source
            left join quarantined
                on pointer.cut_id = quarantined.cut_id and source_cut.source = quarantined.source
            left join flagged
                on pointer.cut_id = flagged.cut_id and source_cut.source = flagged.source
        {%- endcall -%}
    {%- endif -%}
{%- endmacro -%}
