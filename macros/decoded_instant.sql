{#-
    A date or timestamp of the years 1 to 9999 from its text, with at most microseconds. The pattern keeps out what
    Spark takes besides: 'now', times without a date, a zone that it drops, digits that it cuts off.

    >>> decoded_instant('due_on', 'date')
    case
        when due_on rlike '^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}$'
            then try_cast(due_on as date)
    end
-#}
{%- macro decoded_instant(text, spark_type) -%}
    {%- set day = '(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}' -%}
    {%- set moment = day ~ '[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6}0*)?' -%}
    {%- set patterns = {
        'date': day,
        'timestamp': moment ~ '(Z|[-+][0-9]{2}:[0-9]{2})?',
        'timestamp_ntz': moment,
    } -%}
    {%- set value = 'try_cast(' ~ text ~ ' as ' ~ spark_type ~ ')' -%}
    {%- if spark_type == 'timestamp' -%}
        {#- An offset can move it out of them. -#}
        {%- set first = "timestamp '0001-01-01 00:00:00Z'" -%}
        {%- set last = "timestamp '9999-12-31 23:59:59.999999Z'" -%}
        {%- set value = bounded(value, first, last) -%}
    {%- endif -%}
    case
        when {{ text }} rlike '^{{ patterns[spark_type] }}$'
            then {{ value }}
    end
{%- endmacro -%}
