{#-
    A column's value in its Spark type, from the text that the image holds (S19). Null where the text does not fit;
    the caller compares with the text to tell that from a null.

    >>> decoded('image.id', 'bigint')
    try_cast(image.id as bigint)

    >>> decoded('image.total', 'decimal(12,2)') == decoded_decimal('image.total', 'decimal(12,2)')
    True

    >>> decoded('image.photo', 'binary from base64') == decoded_bytes('image.photo', 'base64')
    True
-#}
{%- macro decoded(text, type) -%}
    {%- set spark_type, _, encoding = type.partition(' from ') -%}
    {%- if encoding -%}
        {{- decoded_encoding(text, spark_type, encoding) -}}
    {%- elif spark_type == 'string' -%}
        {{- decoded_text(text) -}}
    {%- elif spark_type in ['float', 'double'] -%}
        {{- decoded_float(text, spark_type) -}}
    {%- elif spark_type in ['date', 'timestamp', 'timestamp_ntz'] -%}
        {{- decoded_instant(text, spark_type) -}}
    {%- elif spark_type.startswith('decimal') -%}
        {{- decoded_decimal(text, spark_type) -}}
    {%- else -%}
        try_cast({{ text }} as {{ spark_type }})
    {%- endif -%}
{%- endmacro -%}
