{#-
    A line for each captured table whose source has columns that its model lacks, and for each that may have rows which
    a statement changed without an event. Of shapes that are new in this run.
-#}
{%- macro print_schema_changes(facts) -%}
    {%- set lines = [] -%}
    {%- for model in graph.get('debezium_models', {}).values() -%}
        {%- set captured = model.captured -%}
        {%- set table = (captured.schema, captured.table) -%}
        {%- set place = full_table_name(captured) -%}
        {%- set missing, sources, silent = [], [], [] -%}
        {%- for name, shown_by in facts.columns.get(table, [])
            if name not in model.columns and name not in (captured.left_out or []) -%}
            {%- set own = matching(captured.sources, shown_by) -%}
            {%- if own -%}
                {%- do missing.append(name) -%}
                {%- do sources.extend(own) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- for name, change in facts.silent.get(table, [])
            if name in model.columns and matching(captured.sources, [change.source]) -%}
            {%- do silent.append((change.commit_number, name, change.source)) -%}
        {%- endfor -%}
        {%- if missing and captured.schema_changes != 'ignore' -%}
            {%- set others = sources | unique | list | length - 1 -%}
            {%- do lines.append(
                sources | min ~ (' and ' ~ others ~ ' more sources' if others else '')
                ~ ': ' ~ place ~ ' has columns that its model lacks: ' ~ missing | sort | join(', ')
                ~ '; `dbt-debezium scaffold` adds them'
            ) -%}
        {%- endif -%}
        {%- if silent and captured.schema_changes != 'ignore' -%}
            {%- set first = (silent | sort)[0] -%}
            {%- do lines.append(
                first[2] ~ ': ' ~ place ~ ' may have rows that a statement changed without an event, from commit '
                ~ first[0] ~ ' on (column ' ~ first[1] ~ '); a snapshot of it mends them'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for line in (lines | sort)[:20] -%}
        {%- do print_line(line) -%}
    {%- endfor -%}
    {%- if lines | length > 20 -%}
        {%- do print_line('and ' ~ (lines | length - 20) ~ ' lines more; `dbt-debezium status` has them') -%}
    {%- endif -%}
{%- endmacro -%}
