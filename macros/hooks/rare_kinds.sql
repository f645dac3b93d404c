{#-
    What most runs lack, and branches of models come from: of messages a condition that holds for all of the kind, and for
    others too at the price of time; and decisions of operators.
-#}
{%- macro rare_kinds() -%}
    {%- set known_topics -%}
        (
            select coalesce(collect_set(topic), array())
            from {{ source('pointer', 'int_topic') }}
            where cut_id = {{ candidate('starting_cut_id') }} and marker_source is not null
        )
    {%- endset -%}
    {%- set kinds = {
        'read': "kind = 'change' and unit_kind = 'snapshot'",
        'signal': "kind = 'change' and signal_type is not null",
        'notification': "kind = 'notification'",
        'emptied_table': "kind = 'schema_change' and emptied_tables is not null",
        'schema_change': "kind = 'schema_change' and table_changes is not null",
        'quarantined': "kind = 'quarantined'",
        'lost_identity': "quarantine_reason = 'delete_without_identity'",
        'repeated_names': 'has_repeated_names',
        'new_transaction_topic': (
            "kind = 'transaction_marker' and not array_contains(" ~ known_topics ~ ', topic)'
        ),
    } -%}
    {%- for name, condition in kinds.items() -%}
        {%- do kinds.update({name: 'bool_or(' ~ condition ~ ')'}) -%}
    {%- endfor -%}
    {#- Also in a run that has no message. -#}
    {%- do kinds.update({'decision': '(select count(*) from ' ~ ref('operator_decision') ~ ') > 0'}) -%}
    {{- return(kinds) -}}
{%- endmacro -%}
