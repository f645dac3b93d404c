{#-
    A map of texts from its JSON text, unless one of them holds a lone surrogate.

    >>> decoded_map('attributes', 'map<string,string>')
    case
        when not contains(attributes, '\ufdd0\ufdd0\ufdd0') then from_json(attributes, 'map<string,string>')
    end
-#}
{%- macro decoded_map(text, spark_type) -%}
    case
        when not contains({{ text }}, '\ufdd0\ufdd0\ufdd0') then from_json({{ text }}, '{{ spark_type }}')
    end
{%- endmacro -%}
