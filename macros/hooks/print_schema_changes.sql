{#-
    A line for each captured table whose source has columns that its model lacks, and for each that may have rows which
    a statement changed without an event. Of shapes that are new in this run.
-#}
{%- macro print_schema_changes(facts) -%}
    {%- set lines = [] -%}
    {%- for model in graph.get('debezium_models', {}).values() -%}
        {%- set captured = model.captured -%}
        {%- set table = (captured.schema, captured.table) -%}
        {%- set place = (captured.schema ~ '.' if captured.schema else '') ~ captured.table -%}
        {%- set missing, flagged = [], [] -%}
        {%- for name, shown in facts.columns.get(table, [])
            if name not in model.columns and name not in (captured.left_out or []) -%}
            {%- do missing.append((name, shown)) -%}
        {%- endfor -%}
        {%- for name, shown in facts.flags.get(table, []) if name in model.columns -%}
            {%- do flagged.append((shown.commit_number, name, shown.source)) -%}
        {%- endfor -%}
        {%- if missing and captured.schema_changes != 'ignore' -%}
            {%- set shown = missing[0][1] -%}
            {%- do lines.append(
                shown.source ~ (' and ' ~ (shown.source_count - 1) ~ ' more sources' if shown.source_count > 1 else '')
                ~ ': ' ~ place ~ ' has columns that its model lacks: ' ~ missing | map(attribute=0) | sort | join(', ')
                ~ '; `dbt-debezium scaffold` adds them'
            ) -%}
        {%- endif -%}
        {%- if flagged and captured.schema_changes != 'ignore' -%}
            {%- set first = (flagged | sort)[0] -%}
            {%- do lines.append(
                first[2] ~ ': ' ~ place ~ ' may have rows that a statement changed without an event, from commit '
                ~ first[0] ~ ' on (column ' ~ first[1] ~ '); a snapshot of it mends them'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for line in (lines | sort)[:20] -%}
        {%- do print(line) -%}
    {%- endfor -%}
{%- endmacro -%}
