{#-
    The view of the current rows of a history. Created again only where its model has changed, or the history was built
    again in this run: the mark of the model is a property of the history, which a run sees without a statement.
-#}
{%- materialization current_rows, adapter='spark' -%}
    {%- if model.refs | length != 1 -%}
        {%- do exceptions.raise_compiler_error(
            model.original_file_path ~ ': refers to ' ~ model.refs | length
            ~ ' models; current_rows is for a view of one history, write materialized=\'view\''
        ) -%}
    {%- endif -%}
    {%- set history = ref(model.refs[0].name) -%}
    {%- set mark = local_md5(tojson([sql, model.description, model.columns], sort_keys=True)) -%}
    {%- set existing = load_relation(this) -%}
    {%- set built = load_relation(history) -%}
    {%- set is_same = not should_full_refresh()
        and graph.get('debezium_histories', {}).get(history.identifier) in ['untouched', 'continued']
        and existing is not none and existing.is_view
        and built is not none and ('dbt_debezium.current_mark=' ~ mark) in shown_properties(built.information) -%}
    {{ run_hooks(pre_hooks) }}

    {%- if is_same -%}
        {%- call noop_statement('main', 'NO CHANGES') -%}{%- endcall -%}
    {%- else -%}
        {%- if existing is not none and not existing.is_view -%}
            {%- do adapter.drop_relation(existing) -%}
        {%- endif -%}
        {%- call statement('main') -%}{{ get_create_view_as_sql(this, sql) }}{%- endcall -%}
        {#- The mark comes last, so that a run that is killed before it is done over. -#}
        {%- call statement('mark') -%}
            alter table {{ history }} set tblproperties ('dbt_debezium.current_mark' = '{{ mark }}')
        {%- endcall -%}
    {%- endif -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{%- endmaterialization -%}
