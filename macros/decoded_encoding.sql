{#-
    A column's value in its Spark type, from the text in which an encoding writes it: docs/types.md has each.

    >>> decoded_encoding('due_on', 'date', 'io.debezium.time.Date') == decoded_count('due_on', 'date', 'days')
    True

    >>> decoded_encoding('flags', 'string', 'io.debezium.data.Bits(5)') == bit_text('flags', '5')
    True

    >>> decoded_encoding('at', 'timestamp', 'somewhere')
    decoded: no encoding is called 'somewhere'; known: io.debezium.time.Date, io.debezium.time.Timestamp, io.debezium.time.MicroTimestamp, io.debezium.time.NanoTimestamp, io.debezium.time.Time, io.debezium.time.MicroTime, io.debezium.time.NanoTime, io.debezium.time.IsoDate, io.debezium.time.IsoTimestamp, base64, base64-url-safe, hex, io.debezium.data.geometry.Point, io.debezium.data.geometry.Geometry, io.debezium.time.IsoTime, org.apache.kafka.connect.data.Decimal, io.debezium.data.VariableScaleDecimal, unsigned bigint, partly unsigned bigint, io.debezium.data.Bits, io.debezium.data.SparseVector, array, map, json
-#}
{%- macro decoded_encoding(text, spark_type, encoding) -%}
    {%- set name = encoding.split('(')[0].split('<')[0] -%}
    {%- set parameter = encoding[name | length + 1:-1] -%}
    {%- set counts = {
        'io.debezium.time.Date': 'days',
        'io.debezium.time.Timestamp': 'millis',
        'io.debezium.time.MicroTimestamp': 'micros',
        'io.debezium.time.NanoTimestamp': 'nanos',
    } -%}
    {%- set times = {
        'io.debezium.time.Time': 1000,
        'io.debezium.time.MicroTime': 1000000,
        'io.debezium.time.NanoTime': 1000000000,
    } -%}
    {%- set iso = ['io.debezium.time.IsoDate', 'io.debezium.time.IsoTimestamp'] -%}
    {%- set binaries = ['base64', 'base64-url-safe', 'hex'] -%}
    {%- set geometries = [
        'io.debezium.data.geometry.Point', 'io.debezium.data.geometry.Geometry',
    ] -%}
    {%- set others = [
        'io.debezium.time.IsoTime', 'org.apache.kafka.connect.data.Decimal', 'io.debezium.data.VariableScaleDecimal',
        'unsigned bigint', 'partly unsigned bigint', 'io.debezium.data.Bits', 'io.debezium.data.SparseVector', 'array', 'map', 'json',
    ] -%}
    {%- if name in counts -%} {{- decoded_count(text, spark_type, counts[name]) -}}
    {%- elif name in times -%} {{- time_text(text, times[name]) -}}
    {%- elif name in iso -%} {{- decoded_instant("rtrim('Z', " ~ text ~ ')', spark_type) -}}
    {%- elif name in binaries -%} {{- decoded_bytes(text, name) -}}
    {%- elif name in geometries -%} {{- decoded_geometry(text, name) -}}
    {%- elif name == others[0] -%} {{- iso_time_text(text) -}}
    {%- elif name == others[1] -%} {{- decoded_unscaled(text, spark_type, parameter) -}}
    {%- elif name == others[2] -%} {{- decoded_variable_scale(text, spark_type) -}}
    {%- elif name == others[3] -%} {{- unsigned_integer(text) -}}
    {#- A number below zero may be one that had a sign, or a large one that has none. -#}
    {%- elif name == others[4] -%} cast(if(try_cast({{ text }} as bigint) >= 0, try_cast({{ text }} as bigint), null) as {{ spark_type }})
    {%- elif name == others[5] -%} {{- bit_text(text, parameter) -}}
    {%- elif name == others[6] -%} {{- decoded_sparse_vector(text) -}}
    {%- elif name == others[7] -%} {{- decoded_array(text, spark_type, parameter) -}}
    {%- elif name == others[8] -%} {{- decoded_map(text, spark_type) -}}
    {%- elif name == others[9] -%} {{- raw_text("nullif(to_json(" ~ text ~ "), 'null')") -}}
    {%- else -%}
        {%- set known = (counts | list) + (times | list) + iso + binaries + geometries + others -%}
        {%- do exceptions.raise_compiler_error(
            "decoded: no encoding is called '" ~ name ~ "'; known: " ~ known | join(', ')
        ) -%}
    {%- endif -%}
{%- endmacro -%}
