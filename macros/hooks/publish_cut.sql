{#-
    Publishes the candidate of every source by one write, when everything ran and nothing failed (S20). A part of the
    project, a failure or a skip publishes nothing, and the run says so. A run whose lease another one has taken
    publishes nothing either: candidate and lease must have its token. The merge fails if another run opens its cut
    meanwhile.
-#}
{%- macro publish_cut(results) -%}
    {#- dbt finds what a hook reads only outside of conditions. -#}
    {%- set int_cut, commits, message_count = ref('int_cut'), ref('commit'), ref('message_count') -%}
    {%- set changes = ref('int_change') -%}
    {%- set held_transaction, table_flag = ref('held_transaction'), ref('table_flag') -%}
    {%- set shapes, schema_changes, proof = ref('int_table_shape'), ref('schema_change'), ref('proof') -%}
    {%- set summary = published_cut_summary(
        int_cut=int_cut,
        starting_commit=ref('int_starting_commit'),
        message_count=message_count,
        held_transaction=held_transaction,
        table_flag=table_flag
    ) -%}
    {%- if execute and flags.WHICH in ['run', 'build'] -%}
        {%- set reason = unpublished_reason(results) -%}
        {%- if reason -%}
            {#- A run may fail in any way where it has lost the lake, or where another one has written late. -#}
            {%- set held = "select 1 from " ~ source('landing', 'lease') ~ " where token = '" ~ lease_token() ~ "'" -%}
            {%- if not run_query(held).rows -%}
                {%- set reason = 'this run has lost its lease to another one; run it again, once no other run works' -%}
            {%- else -%}
                {%- set reason = replaced_table(results) or reason -%}
            {%- endif -%}
            {%- do print_line('nothing published: ' ~ reason) -%}
            {%- do note_failed_transactions(results, commits, changes, shapes, schema_changes) -%}
        {%- else -%}
            {%- do check_run_tables(results) -%}
            {%- do check_landed_messages(candidate('starting_landing_id')) -%}
            {%- do create_cut_views(commits, message_count, held_transaction, table_flag) -%}
            {%- do keep_public_tables('write', int_cut, chosen_public_tables() | rejectattr('shows_pointer')) -%}
            {%- call statement('publish_cut') -%}
                merge into {{ source('pointer', 'cut') }} as pointer
                using (
                    select
                        channel.name as channel,
                        {{ if_lease_is_held('cut.cut_id', candidate_token='cut.lease_token') }} as cut_id,
                        cut.landing_id,
                        cut.starting_cut_id,
                        cut.starting_landing_id,
                        true as is_clean,
                        case when channel.name = 'candidate' then cut.source_cuts else built.source_cuts end as source_cuts,
                        cut.lease_token,
                        cut.hashed_columns,
                        cut.hash_key
                    from {{ source('pointer', 'cut') }} as cut
                    cross join (select explode(array('published', 'candidate')) as name) as channel
                    cross join (
                        select
                            coalesce(
                                collect_list(struct(
                                    reached.source, reached.commit_number, reached.commit_position, reached.transaction_id,
                                    reached.committed_at, reached.snapshot_position, reached.proof, reached.decisions,
                                    -- Maintenance may have removed versions since this run began.
                                    kept.history_from, kept.history_from_at
                                )),
                                array()
                            ) as source_cuts
                        from {{ int_cut }} as reached
                        left join (
                            -- A full refresh has all versions again.
                            select inline(earlier.source_cuts)
                            from {{ source('pointer', 'cut') }} as earlier
                            inner join {{ source('pointer', 'cut') }} as started
                                on started.channel = 'candidate' and started.starting_cut_id > 0
                            where earlier.channel = 'published'
                        ) as kept
                            on reached.source = kept.source
                    ) as built
                    where cut.channel = 'candidate'
                ) as published
                on pointer.channel = published.channel
                when matched then update set *
                when not matched then insert *
            {%- endcall -%}
            {%- do keep_public_tables('move', int_cut, chosen_public_tables() | selectattr('shows_pointer')) -%}
            {%- do print_refusals(proof) -%}
            {%- do print_published_cut(summary) -%}
            {%- do print_schema_changes(table_facts(shapes, schema_changes)) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro -%}
