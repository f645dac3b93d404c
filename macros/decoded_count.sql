{#-
    A date or timestamp of the years 1 to 9999 from a count since 1970-01-01: others can be written but not read, and
    a conversion that overflows fails the run. Nanoseconds that are no whole microseconds are none.

    >>> decoded_count('updated_at', 'timestamp_ntz', 'millis')
    cast(timestamp_millis(case
        when try_cast(updated_at as bigint) between -62135596800000 and 253402300799999
            then try_cast(updated_at as bigint)
    end) as timestamp_ntz)

    >>> decoded_count('due_on', 'date', 'days')
    date_from_unix_date(cast(case
        when try_cast(due_on as bigint) between -719162 and 2932896 then try_cast(due_on as bigint)
    end as int))
-#}
{%- macro decoded_count(text, spark_type, unit) -%}
    {%- set number = 'try_cast(' ~ text ~ ' as bigint)' -%}
    {%- if unit == 'days' -%}
        date_from_unix_date(cast({{ bounded(number, -719162, 2932896) }} as int))
    {%- elif unit == 'millis' -%}
        cast(timestamp_millis({{ bounded(number, -62135596800000, 253402300799999) }}) as {{ spark_type }})
    {%- elif unit == 'micros' -%}
        cast(timestamp_micros({{ bounded(number, -62135596800000000, 253402300799999999) }}) as {{ spark_type }})
    {%- else -%}
        cast(timestamp_micros(case when {{ number }} % 1000 = 0 then {{ number }} div 1000 end) as {{ spark_type }})
    {%- endif -%}
{%- endmacro -%}
