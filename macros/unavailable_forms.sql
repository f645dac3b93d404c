{#-
    The texts that stand for a value that PostgreSQL did not send (S11), as SQL expressions: text; bytes in base64 and
    in hex; arrays of text, of its byte codes and of a uuid made of it; hstore.

    >>> unavailable_forms('?').startswith("'?', base64(encode('?', 'utf-8'))")
    True
-#}
{%- macro unavailable_forms(placeholder) -%}
    {%- set text = string_literal(placeholder) -%}
    {%- set hash = 'md5(' ~ text ~ ')' -%}
    {{ text }}, base64(encode({{ text }}, 'utf-8')), lower(hex({{ text }})),
    {{ string_literal('["' ~ placeholder ~ '"]') }},
    concat('[', array_join(transform(split({{ text }}, ''), letter -> string(ascii(letter))), ','), ']'),
    concat(
        '["', substr({{ hash }}, 1, 8), '-', substr({{ hash }}, 9, 4), '-3', substr({{ hash }}, 14, 3), '-',
        substr('89ab', int(conv(substr({{ hash }}, 17, 1), 16, 10)) % 4 + 1, 1), substr({{ hash }}, 18, 3), '-',
        substr({{ hash }}, 21), '"]'
    ),
    {{ string_literal('{"' ~ placeholder ~ '":"' ~ placeholder ~ '"}') }}
{%- endmacro -%}
