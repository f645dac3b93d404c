{#-
    Row versions of one captured table, merged from the rows that the macro row_history yields. A table without
    changes is left alone: not even an empty snapshot is committed. One whose model says something else than when it
    was built is built again, by one write, from all changes: readers see the same rows before and after it, unless
    identity, sources or truncate changed (decision 0008).
-#}
{%- materialization row_history, adapter='spark' -%}
    {%- set captured = config.require('meta')['captured'] -%}
    {%- set public_name = config.require('meta')['public_name'] -%}
    {%- set is_continued = is_incremental() -%}
    {{ run_hooks(pre_hooks) }}

    {%- set versions = 'select * except (is_version) from (' ~ sql ~ ') where is_version' -%}
    {%- set built = load_relation(this) -%}
    {%- set layout = 'closed versions apart' -%}
    {%- set is_kept = layout in shown_properties(built.information) and is_same_shape(this, versions, [])
        if not is_continued and built is not none -%}
    {%- if not is_continued and built is not none and candidate('starting_cut_id') > 0 -%}
        {%- do print_line(this.identifier ~ ': its model has changed; built again from all changes') -%}
    {%- endif -%}

    {%- if is_kept -%}
        {#- Not `create or replace`, which nothing can refuse to a run that has lost its lease (decision 18). The
            properties come first: a kill between both is followed by another rebuild, whatever the model says then. -#}
        {%- call statement('built_by_cut') -%}
            alter table {{ this }} set tblproperties (
                'dbt_debezium.built_by_cut' = '{{ candidate('cut_id') }}',
                'dbt_debezium.model_mark' = 'without views'
            )
        {%- endcall -%}
        {%- call statement('main') -%}
            insert into {{ this }}.branch_main
            {{ unless_written_since(this) }}
            replace where true
            {{ versions }}
        {%- endcall -%}
    {%- elif not is_continued -%}
        {%- call statement('main') -%}
            create or replace table {{ this }} using iceberg
            -- Closed versions have files of their own. A merge and a query of current rows open none of them.
            partitioned by (bucket(1, _valid_to))
            tblproperties (
                'format-version' = '2',
                'write.distribution-mode' = 'none',
                'write.spark.fanout.enabled' = 'true',
                'write.merge.mode' = 'merge-on-read',
                'write.update.mode' = 'merge-on-read',
                -- Only maintenance deletes by itself, and old versions are to leave the files.
                'write.delete.mode' = 'copy-on-write',
                'write.merge.distribution-mode' = 'none',
                {{ metadata_properties() }},
                'dbt_debezium.built_by_cut' = '{{ candidate('cut_id') }}',
                'dbt_debezium.layout' = '{{ layout }}',
                'dbt_debezium.model_mark' = 'without views'
            )
            {{ comment_clause() }}
            as
            {{ versions }}
        {%- endcall -%}
    {%- else -%}
        {%- if not candidate('is_clean') -%}
            {%- do remove_unpublished_versions(this) -%}
        {%- endif -%}
        {%- set has_changes = has_changes_with(captured, 'any') -%}
        {%- if has_changes -%}
            {%- call statement('main') -%}
                merge into {{ this }} as built
                using ({{ sql }}) as new
                on
                    built._source = new._source
                    and built._row_key = case when not new.is_version then new._row_key end
                    and built._valid_to is null
                when matched then update set _valid_to = new._valid_to
                when not matched and new.is_version then insert *
            {%- endcall -%}
            {%- if not candidate('is_clean') -%}
                {%- do check_only_writer(this) -%}
            {%- endif -%}
        {%- else -%}
            {%- call noop_statement('main', 'NO CHANGES') -%}{%- endcall -%}
        {%- endif -%}
    {%- endif -%}

    {%- if not is_continued or load_relation(public_relation(public_name)) is none -%}
        {%- do create_history_views(this, public_name) -%}
    {%- endif -%}
    {#- A lake of an earlier version has the other views already. -#}
    {%- if not is_continued or load_relation(public_relation(public_name ~ '_changes')) is none -%}
        {%- do create_changes_view(this, public_name) -%}
    {%- endif -%}
    {#- The mark comes last, so that a run that is killed before it is done over. -#}
    {%- if not is_continued -%}
        {%- call statement('mark') -%}
            alter table {{ this }} set tblproperties (
                'dbt_debezium.model_mark' = '{{ graph['debezium_models'][this | string].mark }}'
            )
        {%- endcall -%}
    {%- endif -%}

    {%- set became = 'rebuilt' if not is_continued
        else 'untouched' if candidate('is_clean') and not has_changes else 'continued' -%}
    {%- do graph.setdefault('debezium_histories', {}).update({this.identifier: became}) -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{%- endmaterialization -%}
