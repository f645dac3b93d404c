{#-
    Options of an insert: Iceberg refuses it if another run has written to the table since dbt looked at its relations.
    A run that has lost its lease while a statement of it slept would replace what that run has published. dbt looks
    once this run has taken its lease, and open_cut confirms the lease after that.
    The insert must name the table's branch: Spark 4.1 takes a table that a statement reads and writes for one relation,
    without the options.
-#}
{%- macro unless_written_since(relation) -%}
    {#- Spark 4.1 shows the properties of a table letter by letter. -#}
    {%- set said = (load_relation(relation).information or '') | replace(', ', '') -%}
    {%- set seen = modules.re.search('current-snapshot-id=(\\d+)', said) -%}
    {%- if seen -%}
        with ('isolation-level' = 'serializable', 'validate-from-snapshot-id' = '{{ seen[1] }}')
    {%- endif -%}
{%- endmacro -%}
