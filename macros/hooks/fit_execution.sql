{#-
    How Spark runs the statements of this run. Generating and compiling code for a plan takes longer than running it on
    some ten thousand messages, and planning again between the stages of a query finds nothing: without both, a small lake
    is built with 22 to 30 % less CPU, and a large one with 40 % more (docs/benchmarks.md). The count is
    Iceberg's own, from the metadata of the table.
-#}
{%- macro fit_execution() -%}
    {%- if execute and flags.WHICH in ['run', 'build'] -%}
        {%- set small = 80000 -%}
        {%- set landed = run_query('select count(*) from ' ~ source('landing', 'message')).rows[0][0] | int -%}
        {%- for name, value in {
            'spark.sql.adaptive.enabled': 'false',
            'spark.sql.codegen.factoryMode': 'NO_CODEGEN',
            'spark.sql.codegen.wholeStage': 'false',
        }.items() -%}
            {%- if landed <= small -%}
                {%- do run_query('set ' ~ name ~ ' = ' ~ value) -%}
            {%- else -%}
                {%- do run_query('reset ' ~ name) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
