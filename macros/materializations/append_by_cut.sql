{#-
    A table that grows by one cut a run, in its column cut_id. What a run wrote and did not publish is replaced by
    the next one in one commit; a run that starts from nothing replaces everything. With `keeps: latest` in its meta
    it holds the rows of the candidate and of the published cut only. One that asks comes_from is left alone where the
    answer is no. The table itself is replaced only if its columns change, because nothing can refuse that to a run
    that has lost its lease (decision 18).
-#}
{%- materialization append_by_cut, adapter='spark' -%}
    {%- if load_relation(this) is none and candidate('starting_cut_id') | int > 0 -%}
        {%- do refuse_lost_table(this) -%}
    {%- endif -%}
    {{ run_hooks(pre_hooks) }}

    {%- set has_some = graph.get('debezium_comes_from', {}).get(this | string, true) -%}
    {%- if is_incremental() and candidate('is_clean') and not has_some -%}
        {%- call noop_statement('main', 'NOTHING NEW') -%}{%- endcall -%}
    {%- elif is_incremental() or (load_relation(this) is not none and is_same_shape(this, sql)) -%}
        {%- call statement('main') -%}
            insert into {{ this }}.branch_main
            {{ unless_written_since(this) }}
            {#- A run that starts from nothing starts from cut 0, which no row belongs to. -#}
            replace where cut_id {{ '!=' if config.get('meta', {}).get('keeps') == 'latest' else '>' }}
                {{ candidate('starting_cut_id') }}
            {{ sql }}
        {%- endcall -%}
    {%- else -%}
        {%- call statement('main') -%}
            create or replace table {{ this }} using iceberg
            {#- Maintenance joins the files of a partition, of which a run writes one at least. #}
            partitioned by (
                {{- 'cut_id' if config.get('meta', {}).get('keeps') == 'latest' else 'truncate(1000, cut_id)' -}}
            )
            -- A run writes one partition, so nothing need be gathered before it is written.
            tblproperties (
                'write.distribution-mode' = 'none',
                'write.spark.fanout.enabled' = 'true',
                {{ metadata_properties() }}
            )
            {{ comment_clause() }}
            as
            {{ sql }}
        {%- endcall -%}
    {%- endif -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{%- endmaterialization -%}
