{#-
    Whether the messages of a source are ordered by their place in its partition: CDL sends transactions in the order of
    commits where the project says so, and its LSNs are not in that order where transactions overlap (S22).

    >>> is_ordered_by_offset('message', ['cdl_1'])
    (message.connector <=> 'cdl' and coalesce(rlike(message.source, '(?s)^(\\Qcdl_1\\E)$'), false))
-#}
{%- macro is_ordered_by_offset(message, watermark_sources) -%}
    ({{ message }}.connector <=> 'cdl' and {{ matches_any(message ~ '.source', watermark_sources) }})
{%- endmacro -%}
