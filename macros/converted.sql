{#-
    A value that was sent as another type than the model keeps (the column's type was changed): read as what it was
    sent as, then converted where nothing is lost. Else null, and the caller names it.

    >>> converted('image.n', 'int', 'bigint') == decoded('image.n', 'bigint')
    True

    >>> converted('image.n', 'bigint', 'decimal(20,0) from unsigned bigint') == unsigned_integer('image.n')
    True

    >>> converted('image.n', 'int', 'string from json') == decoded('image.n', 'string from json')
    True

    >>> converted('image.n', 'int', 'string from hex').split()[0]
    cast(try_cast(image.n

    >>> converted('image.n', 'boolean', 'date from io.debezium.time.Date')
    cast(null as date)
-#}
{%- macro converted(text, sent_type, kept_type) -%}
    {%- set sent, _, sent_encoding = sent_type.partition(' from ') -%}
    {%- set kept, _, kept_encoding = kept_type.partition(' from ') -%}
    {%- set numbers = ['smallint', 'int', 'bigint'] -%}
    {%- set scalars = numbers + ['boolean', 'string', 'date', 'timestamp', 'timestamp_ntz'] -%}
    {%- if sent_encoding == kept_encoding or kept_encoding == 'json'
        or (sent == 'bigint' and kept_encoding.endswith('unsigned bigint')) -%}
        {{- decoded(text, kept_type) -}}
    {%- elif sent == kept -%}
        {{- decoded(text, sent_type) -}}
    {%- elif kept == 'string' and (sent in scalars or sent.startswith('decimal')) -%}
        cast({{ decoded(text, sent_type) }} as string)
    {%- elif sent.split('(')[0] in numbers + ['decimal'] and kept.split('(')[0] in numbers + ['decimal'] -%}
        {%- set number = decoded(text, sent_type) -%}
        {%- set fitting = 'try_cast(' ~ number ~ ' as ' ~ kept ~ ')' -%}
        case when cast({{ fitting }} as {{ sent }}) = {{ number }} then {{ fitting }} end
    {%- else -%}
        cast(null as {{ kept }})
    {%- endif -%}
{%- endmacro -%}
