{#-
    An array from its JSON text; none if one of its items fits no Spark type, since the others alone would be another
    array.

    >>> decoded_array('tags', 'array<int>', '')
    case
        when forall(from_json(tags, 'array<string>'), item -> item is null or try_cast(item as int) is not null)
            then transform(from_json(tags, 'array<string>'), item -> try_cast(item as int))
    end
-#}
{%- macro decoded_array(text, spark_type, item_encoding) -%}
    {%- set item_type = spark_type[6:-1] ~ (' from ' ~ item_encoding if item_encoding else '') -%}
    {%- set items = 'from_json(' ~ text ~ ", 'array<string>')" -%}
    case
        when forall({{ items }}, item -> item is null or {{ decoded('item', item_type) }} is not null)
            then transform({{ items }}, item -> {{ decoded('item', item_type) }})
    end
{%- endmacro -%}
