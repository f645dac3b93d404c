{#-
    Whether a topic is a table's, from its rows of partition_progress: a change in it has been read; or nothing has, and
    its name has the two parts of a table's.

    >>> is_table_topic('built')
    (
        bool_or(size(built.sources) > 0) over (partition by built.topic)
        or (
            not bool_or(built.has_controls) over (partition by built.topic)
            and replace(built.topic, concat(built.topic_source, '.'), '') like '%.%'
        )
    )
-#}
{%- macro is_table_topic(progress) -%}
    (
        bool_or(size({{ progress }}.sources) > 0) over (partition by {{ progress }}.topic)
        or (
            not bool_or({{ progress }}.has_controls) over (partition by {{ progress }}.topic)
            and replace({{ progress }}.topic, concat({{ progress }}.topic_source, '.'), '') like '%.%'
        )
    )
{%- endmacro -%}
