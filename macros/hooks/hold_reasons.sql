{#- Reasons to hold, which a setting names. dbt asks while it parses, before there is a session: `HoldReason` has the same. -#}
{%- macro hold_reasons() -%}
    {{- return([
        'awaiting_watermark', 'contradicting_events', 'end_never_sent', 'follows_held_snapshot',
        'follows_held_transaction', 'incomplete_key_change', 'late_snapshot', 'missing_events', 'missing_predecessor',
        'missing_row', 'missing_signal', 'no_commit_position', 'no_end', 'no_transaction', 'not_judged',
        'partition_behind', 'quarantined_event', 'refused_proof', 'several_partitions', 'shared_topic_prefix',
        'snapshot_incomplete', 'snapshot_unconfirmed', 'too_many_events', 'transaction_end_unknown',
        'transaction_topic_recreated', 'unaccounted_gtid', 'unordered_partitions', 'unplaced_truncate',
        'unproven_restart'
    ]) -}}
{%- endmacro -%}
