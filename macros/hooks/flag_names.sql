{#- The flags that tables can have, which settings and decisions name. -#}
{%- macro flag_names() -%}
    {{- return([
        'append_only', 'column_renamed', 'deletes_may_be_missing', 'dropped_or_not_captured', 'identity_lost',
        'identity_not_in_key', 'key_changed', 'key_not_unique', 'no_baseline', 'not_in_latest_snapshot',
        'not_waited_for', 'nothing_seen', 'repeated_names', 'schema_changed_in_snapshot', 'schema_default',
        'snapshot_may_be_torn', 'snapshot_may_double_rows', 'snapshot_not_finished', 'type_converted'
    ]) -}}
{%- endmacro -%}
