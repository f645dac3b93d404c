{#-
    A column's value by the type that its own message gave the column, of all that its messages have given it.

    >>> decoded_as_sent('image.n', 'sent', 'int', []) == decoded('image.n', 'int')
    True

    >>> decoded_as_sent('image.n', 'sent', 'bigint', ['date from io.debezium.time.Date'])
    case replace(sent, ' with default', '')
        when 'date from io.debezium.time.Date' then cast(null as bigint)
        else try_cast(image.n as bigint)
    end
-#}
{%- macro decoded_as_sent(text, sent_type, type, sent_types) -%}
    {%- set encoding = type.partition(' from ')[2] -%}
    {%- set branches = [] -%}
    {%- for other in sent_types
        if other.partition(' from ')[2] != encoding and encoding != 'json' -%}
        {%- set value = converted(text, other, type) -%}
        {%- do branches.append('when ' ~ string_literal(other) ~ ' then ' ~ value) -%}
    {%- endfor -%}
    {%- if branches -%}
        case {{ without_default(sent_type) }} {{ branches | join(' ') }} else {{ decoded(text, type) }} end
    {%- else -%}
        {{- decoded(text, type) -}}
    {%- endif -%}
{%- endmacro -%}
