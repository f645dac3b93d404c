{#-
    Refuses what needs a decision when the source changes a table's shape: another key, under which rows would stand
    twice; and where the policy is 'fail', a column that the model does not have.
-#}
{%- macro check_schema_changes(captured, columns) -%}
    {#- dbt finds what a model reads only outside of conditions. -#}
    {%- set table_schema = ref('table_schema') -%}
    {%- set policy = captured.schema_changes | default('evolve') -%}
    {%- set place = full_table_name(captured) -%}
    {%- if policy not in ['evolve', 'fail', 'ignore'] -%}
        {%- do exceptions.raise_compiler_error(
            place ~ ": schema_changes: '" ~ policy ~ "' is not a policy; known: evolve, fail, ignore"
        ) -%}
    {%- endif -%}
    {%- set facts = table_facts(ref('int_table_shape'), ref('schema_change')) -%}
    {%- for _, key in facts['keys'].get((captured.schema, captured.table), [])
        if refuses_key(captured, key) and (key.cut_id == candidate('cut_id') or not is_incremental()) -%}
        {%- do exceptions.raise_compiler_error(
            place ~ ': its key changed from ' ~ key.old_key ~ ' to ' ~ key.new_key ~ ' at commit '
            ~ key.commit_number ~ ' of ' ~ key.source ~ '; say in its history model which columns tell rows apart,'
            ~ " 'identity': [...], or 'schema_changes': 'ignore'"
        ) -%}
    {%- endfor -%}
    {%- if policy == 'fail' and execute -%}
        {%- set known = [] -%}
        {%- for name in columns.keys() | list + (captured.left_out or []) -%}
            {%- do known.append(string_literal(name)) -%}
        {%- endfor -%}
        {%- set rows = run_query(
            "select column_name, min(struct(commit_number, source)).commit_number, min(struct(commit_number, source)).source"
            ~ " from " ~ table_schema ~ " where told_by = 'change' and " ~ matches_any('source', captured.sources)
            ~ " and schema_name <=> " ~ string_literal(captured.schema) ~ " and table_name = "
            ~ string_literal(captured.table) ~ " and column_name not in (" ~ known | join(', ') ~ ") group by column_name"
            ~ " order by 2, 1 limit 1"
        ).rows -%}
        {%- for row in rows -%}
            {%- do exceptions.raise_compiler_error(
                place ~ ": column '" ~ row[0] ~ "' came at commit " ~ row[1] ~ ' of ' ~ row[2]
                ~ ", and its policy is fail; add it with `dbt-debezium scaffold`, or name it in left_out"
            ) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
