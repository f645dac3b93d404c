{#-
    Kinds of messages that most runs lack, and from which branches of models come: a condition that holds for all of them.
    It may hold for others too, which costs time and nothing else.
-#}
{%- macro rare_kinds() -%}
    {%- set known_topics -%}
        (
            select coalesce(collect_set(topic), array())
            from {{ source('pointer', 'int_topic') }}
            where cut_id = {{ candidate('starting_cut_id') }} and marker_source is not null
        )
    {%- endset -%}
    {{- return({
        'read': "kind = 'change' and unit_kind = 'snapshot'",
        'signal': "kind = 'change' and signal_type is not null",
        'notification': "kind = 'notification'",
        'emptied_table': "kind = 'schema_change' and emptied_tables is not null",
        'schema_change': "kind = 'schema_change' and table_changes is not null",
        'quarantined': "kind = 'quarantined'",
        'decision': '(select count(*) from ' ~ ref('operator_decision') ~ ') > 0',
        'lost_identity': "quarantine_reason = 'delete_without_identity'",
        'repeated_names': 'has_repeated_names',
        'new_transaction_topic': (
            "kind = 'transaction_marker' and not array_contains(" ~ known_topics ~ ', topic)'
        ),
    }) -}}
{%- endmacro -%}
