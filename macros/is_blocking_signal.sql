{#-
    Whether the image of a row is a signal that asks for a blocking snapshot (S7).

    >>> is_blocking_signal('after').split()[0]
    coalesce(
-#}
{%- macro is_blocking_signal(image) -%}
    {{ is_snapshot_signal(image, ['execute-snapshot']) }}
    and lower(get_json_object(get_json_object({{ image }}, '$.data'), '$.type')) = 'blocking'
{%- endmacro -%}
