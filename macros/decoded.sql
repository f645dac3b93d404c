{#-
    A column's value in its Spark type, from the text that the JSON image holds (S19). Null where the text does not
    fit; the caller compares with the text to tell that from a null.

    >>> decoded('image.total', 'decimal(12,2)')
    try_cast(image.total as decimal(12,2))

    >>> decoded('image.updated_at', 'timestamp_ntz from io.debezium.time.Timestamp')
    cast(timestamp_millis(case
        when try_cast(image.updated_at as bigint) between -62135596800000 and 253402300799999
            then try_cast(image.updated_at as bigint)
    end) as timestamp_ntz)

    >>> decoded('image.note', 'string')
    image.note

    >>> decoded('image.at', 'timestamp from somewhere')
    decoded: no encoding is called 'somewhere'; known: io.debezium.time.Date, io.debezium.time.Timestamp, io.debezium.time.MicroTimestamp, json
-#}
{%- macro decoded(text, type) -%}
    {%- set spark_type = type.split(' from ')[0] -%}
    {%- set encoding = type.split(' from ')[1:] | first -%}
    {%- set number = 'try_cast(' ~ text ~ ' as bigint)' -%}
    {#- Years 1 to 9999: readers have no others, and a conversion that overflows fails the run. -#}
    {%- set days = bounded(number, -719162, 2932896) -%}
    {%- set millis = bounded(number, -62135596800000, 253402300799999) -%}
    {%- set micros = bounded(number, -62135596800000000, 253402300799999999) -%}
    {%- set encodings = {
        'io.debezium.time.Date': 'date_from_unix_date(cast(' ~ days ~ ' as int))',
        'io.debezium.time.Timestamp':
            'cast(timestamp_millis(' ~ millis ~ ') as ' ~ spark_type ~ ')',
        'io.debezium.time.MicroTimestamp':
            'cast(timestamp_micros(' ~ micros ~ ') as ' ~ spark_type ~ ')',
        'json': 'to_json(' ~ text ~ ')',
    } -%}
    {%- if encoding in encodings -%}
        {{- encodings[encoding] -}}
    {%- elif encoding -%}
        {%- do exceptions.raise_compiler_error(
            "decoded: no encoding is called '" ~ encoding ~ "'; known: " ~ encodings | join(', ')
        ) -%}
    {%- elif spark_type == 'string' -%}
        {{- text -}}
    {%- else -%}
        try_cast({{ text }} as {{ spark_type }})
    {%- endif -%}
{%- endmacro -%}
