{#-
    A table that readers see switch with the pointer. Each run writes its rows under the cut it builds, beside those
    of the published cut; the view of the model shows the candidate's rows, the public view the published ones.
    The cut before the published one stays for readers that took the pointer just before it moved.
-#}
{%- materialization published_table, adapter='spark' -%}
    {%- set stored = this.incorporate(path={'identifier': this.identifier ~ '__stored'}, type='table') -%}
    {%- set public = public_relation(config.get('meta', {}).get('public_name', this.identifier)) -%}
    {%- set is_new = load_relation(stored) is none -%}
    {{ run_hooks(pre_hooks) }}
    {#- The columns of a model of ours change only with our models: a run that reads the same ones need not plan the
        model to see them. -#}
    {%- set shape = shape_mark() -%}
    {%- set is_known = not is_new and shape and shape in shown_properties(load_relation(stored).information) -%}
    {%- if config.get('contract').enforced and not is_known -%}
        {{ get_assert_columns_equivalent(sql) }}
    {%- endif -%}
    {%- set is_reshaped = not is_new and not is_known and not is_same_shape(stored, sql) -%}
    {%- if is_reshaped and not should_full_refresh() -%}
        {%- do exceptions.raise_compiler_error(
            this.identifier ~ ': its columns or their types are not those it was built with; run once with --full-refresh'
            ~ ', or drop table ' ~ stored ~ ' before the next run'
        ) -%}
    {%- endif -%}

    {%- if is_new or is_reshaped -%}
        {%- call statement('main') -%}
            create or replace table {{ stored }} using iceberg
            partitioned by (cut_id)
            tblproperties (
                'write.distribution-mode' = 'none',
                'dbt_debezium.shape' = '{{ shape }}',
                {{ metadata_properties() }}
            )
            {{ comment_clause() }}
            as
            select {{ candidate('cut_id') }}L as cut_id, result.* from ({{ sql }}) as result
        {%- endcall -%}
    {%- else -%}
        {%- if shape and not is_known -%}
            {%- call statement('shape') -%}
                alter table {{ stored }} set tblproperties ('dbt_debezium.shape' = '{{ shape }}')
            {%- endcall -%}
        {%- endif -%}
        {%- call statement('main') -%}
            insert into {{ stored }}.branch_main
            {{ unless_written_since(stored) }}
            replace where cut_id >= {{ candidate('cut_id') }} or cut_id < {{ candidate('cut_id') - 2 }}
            select {{ candidate('cut_id') }}L as cut_id, result.* from ({{ sql }}) as result
        {%- endcall -%}
    {%- endif -%}

    {%- if is_new or load_relation(this) is none or load_relation(public) is none or should_full_refresh() -%}
        {%- set columns = column_names(stored) | reject('equalto', 'cut_id') | list -%}
        {%- do create_pointed_view(this, stored, 'candidate', columns) -%}
        {%- do create_pointed_view(public, stored, 'published', columns) -%}
    {%- endif -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{%- endmaterialization -%}
