{#-
    Names of the columns of a JSON image whose value was not sent (S11), of a placeholder for such values. Null where
    the image holds none, which is found without parsing it.

    What stands for a value depends on its type: text; bytes in base64 and in hex; arrays of text, of bytes, of its byte
    codes and of a uuid made of it; hstore; for a geometry or geography a place that the connector's source names. Other
    arrays of numbers get the byte codes too: as decimals with .0 in float arrays, as texts in numeric ones (debezium#7815).

    >>> unavailable_columns('after', '?').split()[0]
    case
-#}
{%- macro unavailable_columns(image, placeholder) -%}
    {%- set text = string_literal(placeholder) -%}
    {%- set base64 = 'base64(encode(' ~ text ~ ", 'utf-8'))" -%}
    {%- set hex = string_literal(placeholder.encode('utf-8').hex()) -%}
    {%- set codes = string_literal(placeholder.encode('utf-8') | join(',')) -%}
    {%- set decimals = string_literal(placeholder.encode('utf-8') | join('.0,') ~ '.0') -%}
    {%- set digits = string_literal('"' ~ placeholder.encode('utf-8') | join('","') ~ '"') -%}
    {%- set hash = 'md5(' ~ text ~ ')' -%}
    {%- set uuid -%}
        concat(
            substr({{ hash }}, 1, 8), '-', substr({{ hash }}, 9, 4), '-3', substr({{ hash }}, 14, 3), '-',
            substr('89ab', int(conv(substr({{ hash }}, 17, 1), 16, 10)) % 4 + 1, 1), substr({{ hash }}, 18, 3), '-',
            substr({{ hash }}, 21)
        )
    {%- endset -%}
    {%- set geometry = "'AQEAACDmEAAAAAAA/IPXl8EAAAD8g9eXwQ=='" -%}
    {%- set geography = "'AQEAACDmEAAADCHn/f9/ZkAYQs77/39WQA=='" -%}
    {%- set nested = [] -%}
    {%- for items in [codes, decimals, digits] -%}
        {%- do nested.append("concat('[', " ~ items ~ ", ']')") -%}
    {%- endfor -%}
    {%- for item in [text, base64, uuid] -%}
        {%- do nested.append("concat('[\"', " ~ item ~ ", '\"]')") -%}
    {%- endfor -%}
    {%- do nested.append("concat('{\"', " ~ text ~ ", '\":\"', " ~ text ~ ", '\"}')") -%}
    {%- for place in [geometry, geography] -%}
        {%- do nested.append("concat('{\"wkb\":\"', " ~ place ~ ", '\",\"srid\":4326}')") -%}
    {%- endfor -%}
    case
        -- Texts that Spark knows before it reads a row: no lambda, which it runs for each.
        when
            {% for part in [text, base64, hex, codes, decimals, digits, uuid, geometry, geography] -%}
            {{ 'or ' if not loop.first }}contains({{ image }}, {{ part }})
            {% endfor %}
            then map_keys(map_filter(
                from_json({{ image }}, 'map<string, string>'),
                (name, text) -> text in ({{ [text, base64, hex] | join(', ') }})
                -- An array or an object is as it was sent, with its blanks; a placeholder has none.
                or array_contains(array({{ nested | join(', ') }}), replace(text, ' ', ''))
            ))
    end
{%- endmacro -%}
