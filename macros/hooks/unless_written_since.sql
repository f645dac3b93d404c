{#-
    Options of an insert: Iceberg refuses it if another run has written to the table since this one began. A run that
    has lost its lease while a statement of it slept would replace what that run has published.
    The insert must name the table's branch: Spark 4.1 takes a table that a statement reads and writes for one relation,
    without the options.
-#}
{%- macro unless_written_since(relation) -%}
    {%- set seen = seen_snapshot(relation) -%}
    {%- if seen -%}
        with ('isolation-level' = 'serializable', 'validate-from-snapshot-id' = '{{ seen }}')
    {%- endif -%}
{%- endmacro -%}
