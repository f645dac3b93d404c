{#-
    Refuses a history to which another run has written between two statements of this one. Iceberg refuses a merge only
    if the other run has written since that merge began. Such a run had opened a cut that it did not publish.
-#}
{%- macro check_only_writer(history) -%}
    {%- set token = "summary['dbt-debezium.lease'] is distinct from '" ~ lease_token() ~ "'" -%}
    {%- set query -%}
        select 1
        from {{ history }}.snapshots as own
        inner join {{ history }}.snapshots as parent
            on own.parent_id = parent.snapshot_id
        where
            not own.{{ token }}
            and parent.{{ token }}
            and parent.snapshot_id != {{ seen_snapshot(history) or 0 }}
    {%- endset -%}
    {%- if run_query(query).rows -%}
        {%- do exceptions.raise_compiler_error(
            history.identifier ~ ': another run has written to this table since this run began, so this run publishes '
            ~ 'nothing; run it again, once no other run works'
        ) -%}
    {%- endif -%}
{%- endmacro -%}
