{#-
    Says what this run builds: the next cut, all that has landed, and the published cut it starts from.
    A run that published nothing leaves its cut number to the next one, which overwrites what it built. A full refresh
    starts from nothing; while it is not published, neither may the runs after it start from anything else.
    The candidate has the token of the lease, so that a run that has lost it cannot publish. A merge fails where another
    run has moved the pointer since it was read; insert overwrite would replace what that run wrote.
-#}
{%- macro open_cut() -%}
    {#- dbt finds what a hook reads only outside of conditions. -#}
    {%- set operator_decision = ref('operator_decision') -%}
    {%- if execute and flags.WHICH in ['run', 'build'] -%}
        {%- do create_pointer_tables(operator_decision) -%}
        {%- if flags.FULL_REFRESH -%}
            {%- call statement('forget_failed_transactions') -%}
                delete from {{ source('pointer', 'failed_transaction') }}
            {%- endcall -%}
        {%- endif -%}
        {%- call statement('open_cut') -%}
            merge into {{ source('pointer', 'cut') }} as pointer
            using (
                with

                pointer as (

                    select
                        coalesce(max(cut_id) filter (where channel = 'published'), 0) as published_cut_id,
                        coalesce(max(landing_id) filter (where channel = 'published'), 0) as published_landing_id,
                        max_by(source_cuts, cut_id) filter (where channel = 'published') as published_source_cuts,
                        max(hashed_columns) filter (where channel = 'published') as published_hashed_columns,
                        max(hash_key) filter (where channel = 'published') as published_hash_key,
                        coalesce(max(cut_id) filter (where channel = 'candidate'), 0) as latest_cut_id,
                        coalesce(max(starting_cut_id) filter (where channel = 'candidate'), 0) as latest_starting_cut_id
                    from {{ source('pointer', 'cut') }}

                ),

                start as (

                    select
                        *,
                        latest_cut_id > published_cut_id as is_unpublished,
                        {{ not flags.FULL_REFRESH }}
                        and not (latest_cut_id > published_cut_id and latest_starting_cut_id = 0) as is_continued
                    from pointer

                )

                select
                    'candidate' as channel,
                    {{ if_lease_is_held(if_hashes_join('published_cut_id + 1')) }} as cut_id,
                    (
                        select coalesce(max(message.landing_id), 0)
                        from {{ source('landing', 'message') }} as message
                        -- A landing from Kafka that was interrupted may lack the schemas of its messages. One that
                        -- has brought none holds nothing back: its plan may have been written late.
                        where
                            message.landing_id < coalesce(
                                (
                                    select min(brought.landing_id)
                                    from {{ source('landing', 'message') }} as brought
                                    where
                                        brought.landing_id in (
                                            select fetched.landing_id
                                            from {{ source('landing', 'range') }} as fetched
                                            where not fetched.is_landed
                                        )
                                ),
                                message.landing_id + 1
                            )
                    ) as landing_id,
                    case when is_continued then published_cut_id else 0 end as starting_cut_id,
                    case when is_continued then published_landing_id else 0 end as starting_landing_id,
                    not is_unpublished as is_clean,
                    case
                        when is_continued and published_source_cuts is not null then published_source_cuts
                        else cast(array() as {{ source_cuts_type() }})
                    end as source_cuts,
                    '{{ lease_token() }}' as lease_token,
                    {{ string_literal(tojson(var('hashed'), sort_keys=True)) }} as hashed_columns,
                    '{{ hash_key_fingerprint() }}' as hash_key
                from start
            ) as opened
            on pointer.channel = opened.channel
            when matched then update set *
            when not matched then insert *
        {%- endcall -%}
    {%- endif -%}
{%- endmacro -%}
