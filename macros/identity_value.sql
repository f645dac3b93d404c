{#-
    What a change says of one of the columns that tell rows apart: of the row before it where it is a delete.

    >>> identity_value(['id', 'code'], 'code')
    from_json(
        case when operation = 'd' then before else after end,
        '`id` string, `code` string'
    ).`code`
-#}
{%- macro identity_value(identity, name) -%}
    {%- set types = {} -%}
    {%- for one in identity -%}
        {%- do types.update({one: 'string'}) -%}
    {%- endfor -%}
    from_json(
        case when operation = {{ op('delete') }} then before else after end,
        {{ image_schema(types) }}
    ).{{ quoted(name) }}
{%- endmacro -%}
