{#-
    A geometry from its JSON text: well-known binary and its reference system; of a point the coordinates besides.

    >>> decoded_geometry('place', 'io.debezium.data.geometry.Geometry').split('\n')[-3].strip()
    'srid', try_cast(get_json_object(place, '$.srid') as int)
-#}
{%- macro decoded_geometry(text, encoding) -%}
    {%- set wkb = 'try_to_binary(get_json_object(' ~ text ~ ", '$.wkb'), 'base64')" -%}
    {%- set coordinates = [] -%}
    {%- for axis in ['x', 'y'] if encoding == 'io.debezium.data.geometry.Point' -%}
        {%- set coordinate = 'get_json_object(' ~ text ~ ", '$." ~ axis ~ "')" -%}
        {%- do coordinates.append(decoded_float(coordinate, 'double')) -%}
    {%- endfor -%}
    {%- set point = "'x', " ~ coordinates | join(", 'y', ") ~ ', ' if coordinates else '' -%}
    case
        when {{ ([wkb] + coordinates) | join(' is not null and ') }} is not null
            then named_struct(
                {{ point }}'wkb', {{ wkb }},
                'srid', try_cast(get_json_object({{ text }}, '$.srid') as int)
            )
    end
{%- endmacro -%}
