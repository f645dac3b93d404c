{#- The tables that a run reads before any model has made them. dbt run loads no seeds; dbt build loads its own. -#}
{%- macro create_pointer_tables(operator_decision) -%}
    {%- set cut, settled_unit = source('pointer', 'cut'), source('pointer', 'settled_unit') -%}
    {%- set is_proven = load_relation(api.Relation.create(schema=cut.schema, identifier='proof')) is not none -%}
    {#- settled_unit is made before the pointer, so a lake that has the pointer alone is of an earlier version. -#}
    {%- if load_relation(cut) is not none and load_relation(settled_unit) is none and not is_proven -%}
        {%- do exceptions.raise_compiler_error(
            cut ~ ': an earlier version of dbt-debezium has built this lake; drop the schemas ' ~ target.schema ~ ' and '
            ~ var('public_schema') ~ ', and run again: what has landed is read from its beginning'
        ) -%}
    {%- endif -%}
    {%- for relation, columns in [
        (
            source('landing', 'message'),
            'landing_id bigint, topic string, partition int, `offset` bigint, timestamp timestamp, key binary,'
            ~ ' value binary, headers array<struct<key: string, value: binary>>'
        ),
        (
            source('landing', 'range'),
            'landing_id bigint, topic string, topic_id string, partition int, start_offset bigint,'
            ~ ' end_offset bigint, log_start_offset bigint, log_end_offset bigint,'
            ~ ' cleanup_policy string, is_sure_end boolean, fetched_at timestamp, is_landed boolean'
        ),
        (
            source('pointer', 'settled_unit'),
            'source string, unit_kind string, unit_id string, position string, transaction_id string, committed_at timestamp, cut_id bigint'
        ),
        (
            source('pointer', 'cut'),
            'channel string, cut_id bigint, landing_id bigint, starting_cut_id bigint,'
            ~ ' starting_landing_id bigint, is_clean boolean, source_cuts ' ~ source_cuts_type()
            ~ ', lease_token string, hashed_columns string, hash_key string'
        ),
        (
            source('pointer', 'failed_transaction'),
            'source string, transaction_id string, held_reason string, data_collection string, captured_mark string'
        ),
        (
            source('pointer', 'int_topic'),
            'topic string, sources array<string>, topic_source string, marker_source string,'
            ~ ' shown_prefixes array<string>, judged_sources array<string>, role string, is_leading boolean,'
            ~ ' has_controls boolean, marker_count bigint, cut_id bigint'
        ),
        (
            operator_decision,
            'source string, transaction_id string, decision string, decided_by string, decided_on date, reason string'
        ),
    ] if load_relation(relation) is none
        and (flags.WHICH == 'run' or relation != operator_decision) -%}
        {%- if relation.identifier == 'message' and load_relation(source('pointer', 'cut')) is not none -%}
            {%- do exceptions.raise_compiler_error(
                'landing.message: is gone, although a run has read it; restore it, or remove the lake and land again'
            ) -%}
        {%- endif -%}
        {%- if is_proven and relation.identifier in ['settled_unit', 'int_topic'] and not flags.FULL_REFRESH -%}
            {%- do refuse_lost_table(relation) -%}
        {%- endif -%}
        {%- do create_schema(relation) -%}
        {%- call statement('create_pointer_table') -%}
            create table if not exists {{ relation }} ({{ columns }})
            using iceberg
            {%- if relation.identifier in ['message', 'range'] %} partitioned by (truncate(1000, landing_id)) {%- endif %}
            tblproperties ('format-version' = '2', 'write.distribution-mode' = 'none', {{ metadata_properties() }})
        {%- endcall -%}
    {%- endfor -%}
    {%- set held_message = source('pointer', 'held_message') -%}
    {%- if load_relation(held_message) is none -%}
        {%- if is_proven and not flags.FULL_REFRESH -%}{%- do refuse_lost_table(held_message) -%}{%- endif -%}
        {%- call statement('create_held_message') -%}
            create table if not exists {{ held_message }} using iceberg partitioned by (cut_id)
            tblproperties ('write.distribution-mode' = 'none', {{ metadata_properties() }})
            as
            select
                0L as cut_id,
                {{ flattened_columns() }}
            from (
                select
                    message.*,
                    '' as epoch,
                    flatten_message(
                        message.topic, message.key, message.value, message.headers, {{ connector_settings() }}
                    ) as flat
                from {{ source('landing', 'message') }} as message
                where false
            )
        {%- endcall -%}
    {%- endif -%}
{%- endmacro -%}
