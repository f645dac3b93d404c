{#-
    Whether the image of a row is a signal of one of these types (S6). A table of signals has three columns: id, type and
    data, in capitals where the database has them so.

    >>> is_snapshot_signal('after', ['log']).split()[0]
    coalesce(
-#}
{%- macro is_snapshot_signal(image, types) -%}
    coalesce(
        (contains({{ image }}, '-snapshot"') or contains({{ image }}, '"snapshot-window-'))
        and size(json_object_keys({{ image }})) = 3
        and coalesce(get_json_object({{ image }}, '$.type'), get_json_object({{ image }}, '$.TYPE'))
        in ('{{ types | join("', '") }}'),
        false
    )
{%- endmacro -%}
