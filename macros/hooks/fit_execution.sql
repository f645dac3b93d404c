{#-
    How Spark runs the statements of this run. Generating and compiling code for a plan takes longer than running it on
    some ten thousand messages, and planning again between the stages of a query finds nothing: without both, a small
    run takes 22 to 40 % less CPU, and a large one 40 % more (docs/benchmarks.md). Old messages count little: a run
    only scans the versions of changed tables. The counts are Iceberg's own, from the metadata of the table.
    One task of a shuffle takes a tenth less CPU than two, and Spark's own 200 would each handle a few rows.

    Spark must not infer constraints of columns from joins and filters: with them, planning a model that asks for
    watermark_sources took 28 seconds where the project names some, and 0.5 without.
-#}
{%- macro fit_execution() -%}
    {%- if execute and flags.WHICH in ['run', 'build'] -%}
        {%- do run_query('set spark.sql.constraintPropagation.enabled = false') -%}
        {%- set small = 80000 -%}
        {%- set landed = run_query(
            'select sum(record_count) as known, sum(record_count) filter (where readable_metrics.landing_id.upper_bound > '
            ~ candidate('starting_landing_id') ~ ') as new from ' ~ source('landing', 'message') ~ '.data_files'
        ).rows[0] -%}
        {%- set new = (landed['new'] or 0) | int -%}
        {%- set old = (landed['known'] or 0) | int - new -%}
        {%- for name, value in {
            'spark.sql.adaptive.enabled': 'false',
            'spark.sql.codegen.factoryMode': 'NO_CODEGEN',
            'spark.sql.codegen.wholeStage': 'false',
            'spark.sql.shuffle.partitions': '1',
        }.items() -%}
            {%- if new + old / 200 <= small -%}
                {%- do run_query('set ' ~ name ~ ' = ' ~ value) -%}
            {%- else -%}
                {%- do run_query('reset ' ~ name) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
