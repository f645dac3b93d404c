{#-
    Kinds of rows that most runs lack, and from which branches of models come: the table that has them, and a condition
    that holds for all of them. It may hold for others too, which costs time and nothing else.
-#}
{%- macro rare_kinds() -%}
    {%- set of_cut = 'cut_id = ' ~ candidate('cut_id') ~ ' and ' -%}
    {%- set of_start = 'cut_id = ' ~ candidate('starting_cut_id') ~ ' and ' -%}
    {%- set known_topics -%}
        (
            select coalesce(collect_set(topic), array())
            from {{ source('pointer', 'partition_progress') }}
            where {{ of_start }} marker_source is not null
        )
    {%- endset -%}
    {{- return({
        'read': ('stg_message', "kind = 'change' and snapshot != 'incremental' and not is_already_published"),
        'window_read': ('stg_message', "kind = 'change' and snapshot = 'incremental' and not is_already_published"),
        'signal': ('stg_message', "kind = 'change' and signal_type is not null"),
        'notification': ('stg_message', "kind = 'notification'"),
        'logical_message': ('stg_message', "kind = 'logical_message'"),
        'late_change': ('stg_message', "kind = 'change' and is_already_published"),
        'lone_change': (
            'stg_message',
            "connector in ('mysql', 'mariadb') and kind = 'change' and total_order is null and startswith(log_position, 'file#')"
        ),
        'unplaced_message': (
            'stg_message', "kind = 'quarantined' or (kind = 'change' and snapshot is null and transaction_id is null)"
        ),
        'lost_identity': ('stg_message', "quarantine_reason = 'delete_without_identity'"),
        'repeated_names': ('stg_message', 'has_repeated_names'),
        'numbered_log': ('stg_message', 'log_position is not null'),
        'new_transaction_topic': (
            'stg_message', "kind = 'transaction_marker' and not array_contains(" ~ known_topics ~ ', topic)'
        ),
        'marker_without_connector': ('stg_message', "kind = 'transaction_marker' and connector is null"),
        'starting_log': ('int_starting_commit', 'size(log_positions) > 0'),
        'decision': ('operator_decision', "decision != 'accept'"),
        'contradiction': ('pointer.contradiction', 'true'),
        'nameless_topic': ('pointer.partition_progress', of_start ~ 'size(sources) = 0 and marker_source is null'),
        'earlier_unplaced_message': ('pointer.partition_progress', of_start ~ 'size(unplaced_offsets) > 0'),
        'copied_topic': ('int_transaction_topic', 'not is_leading'),
        'split_topic': ('partition_progress', of_cut ~ 'marker_source is not null and partition > 0'),
        'unreadable_message': (
            'partition_progress', of_cut ~ '(size(unplaced_offsets) > 0 or size(unreadable_spans) > 0)'
        ),
        'doubtful_transaction': (
            'int_transaction_count', 'has_end and not is_short and (is_long or not has_one_order)'
        ),
        'uncounted_transaction': ('int_judged_transaction', "mark_kind != 'counted'"),
    }) -}}
{%- endmacro -%}
