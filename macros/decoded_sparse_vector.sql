{#-
    A sparse vector from its JSON text: how many dimensions it has, and the values of those that are not zero. Its map
    is an array of pairs, since JSON has no numbers for keys.

    >>> decoded_sparse_vector('embedding').split('\n')[-20].strip()
    'dimensions', try_cast(get_json_object(embedding, '$.dimensions') as int),
-#}
{%- macro decoded_sparse_vector(text) -%}
    {%- set index = 'try_cast(pair[0] as int)' -%}
    {%- set value = decoded_float('pair[1]', 'double') -%}
    element_at(transform(
        array(from_json(get_json_object({{ text }}, '$.vector'), 'array<array<string>>')),
        pairs -> case
            when
                forall(pairs, pair -> {{ index }} is not null and {{ value }} is not null)
                and size(array_distinct(transform(pairs, pair -> {{ index }}))) = size(pairs)
                then named_struct(
                    'dimensions', try_cast(get_json_object({{ text }}, '$.dimensions') as int),
                    'vector', map_from_entries(transform(pairs, pair -> struct({{ index }}, {{ value }})))
                )
        end
    ), 1)
{%- endmacro -%}
