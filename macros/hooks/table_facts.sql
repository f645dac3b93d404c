{#-
    What the messages have shown of captured tables beside their rows, by (schema, table): `types`, the types of each
    column whose type was changed; `common`, the columns that all of its shapes have; `keys`, the changes of keys;
    `columns`, those of shapes that are new in this run; `silent`, columns whose change in this run may have changed
    rows without an event. Asked once a run, by one query.
-#}
{%- macro table_facts(shapes, changes) -%}
    {%- set facts = {'types': {}, 'common': {}, 'keys': {}, 'columns': {}, 'silent': {}} -%}
    {%- if not execute or load_relation(shapes) is none -%}
        {{- return(facts) -}}
    {%- endif -%}
    {%- set query -%}
        with shown as (
            select
                source, schema_name, table_name, cut_id,
                explode(from_json(column_types, 'map<string, string>')) as (column_name, sent_type)
            from {{ shapes }}
            where cut_id <= {{ candidate('cut_id') }}
        )
        select
            'types' as fact, schema_name, table_name, column_name,
            to_json(array_sort(collect_set({{ without_default('sent_type') }}) filter (where sent_type != ''))) as shown,
            to_json(array_sort(collect_set(source) filter (where cut_id = {{ candidate('cut_id') }}))) as shown_by
        from shown
        group by schema_name, table_name, column_name
        having
            count(distinct {{ without_default('sent_type') }}) filter (where sent_type != '') > 1
            or max(cut_id) = {{ candidate('cut_id') }}
        union all
        select
            'common', schema_name, table_name, null,
            to_json(reduce(collect_set(columns), first(columns), (common, some) -> array_intersect(common, some))),
            '[]'
        from (select *, json_object_keys(column_types) as columns from {{ shapes }} where cut_id <= {{ candidate('cut_id') }})
        group by schema_name, table_name
        union all
        select
            case when change_kind = 'key_changed' then 'keys' else 'silent' end, schema_name, table_name, column_name,
            to_json(struct(source, commit_number, previous_type as old_key, column_type as new_key, cut_id)),
            '[]'
        from {{ changes }}
        where
            cut_id <= {{ candidate('cut_id') }}
            and (
                change_kind = 'key_changed'
                or (may_have_changed_rows and cut_id = {{ candidate('cut_id') }})
            )
    {%- endset -%}
    {%- if 'debezium_table_facts' not in graph -%}
        {%- for row in run_query(query).rows -%}
            {%- set table, shown, shown_by = (row[1], row[2]), fromjson(row[4]), fromjson(row[5]) -%}
            {%- if row[0] != 'types' or shown | length > 1 -%}
                {%- do facts[row[0]].setdefault(table, []).append((row[3], shown)) -%}
            {%- endif -%}
            {%- if shown_by -%}
                {%- do facts.columns.setdefault(table, []).append((row[3], shown_by)) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- do graph.update({'debezium_table_facts': facts}) -%}
    {%- endif -%}
    {{- return(graph['debezium_table_facts']) -}}
{%- endmacro -%}
