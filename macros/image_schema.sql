{#-
    The schema under which an image is read: every value as the text it was sent as, so that no digit is lost.

    >>> image_schema({'id': 'bigint', 'attrs': 'string from json'})
    '`id` string, `attrs` variant'
-#}
{%- macro image_schema(columns) -%}
    {%- set fields = [] -%}
    {%- for name, type in columns.items() -%}
        {%- set text_type = 'variant' if type.endswith(' from json') else 'string' -%}
        {%- do fields.append(quoted(name) ~ ' ' ~ text_type) -%}
    {%- endfor -%}
    {{- string_literal(fields | join(', ')) -}}
{%- endmacro -%}
