{#-
    Names of the columns of a JSON image whose value was not sent (S11), of a placeholder for such values. Null where
    the image holds none, which is found without parsing it.

    >>> unavailable_columns('after', '?').split()[0]
    case
-#}
{%- macro unavailable_columns(image, placeholder) -%}
    {%- set forms = unavailable_forms(placeholder) -%}
    case
        when exists(array({{ forms }}), form -> contains({{ image }}, trim('[]', form)))
            then map_keys(map_filter(
                from_json({{ image }}, 'map<string, string>'),
                (name, text) -> array_contains(array({{ forms }}), replace(text, ' ', ''))
            ))
    end
{%- endmacro -%}
