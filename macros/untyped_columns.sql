{#-
    The columns of a JSON image as the flattener has those of a schema block, but without types: nobody says them.

    >>> untyped_columns('after')
    to_json(map_from_arrays(
        array_distinct(json_object_keys(after)),
        array_repeat('', size(array_distinct(json_object_keys(after))))
    ))
-#}
{%- macro untyped_columns(image) -%}
    to_json(map_from_arrays(
        array_distinct(json_object_keys({{ image }})),
        array_repeat('', size(array_distinct(json_object_keys({{ image }}))))
    ))
{%- endmacro -%}
