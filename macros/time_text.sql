{#-
    A time as text, hours to microseconds, from a count of seconds, milliseconds and so on since midnight. It holds
    24:00, and MySQL's times below zero and beyond a day, which Spark's TIME does not.

    >>> time_text('starts_at', 1000).split('\n')[4].strip()
    abs(try_cast(starts_at as bigint)) div 3600000,
-#}
{%- macro time_text(text, per_second) -%}
    {%- set number = 'try_cast(' ~ text ~ ' as bigint)' -%}
    {%- set rest = 'abs(' ~ number ~ ') % ' ~ per_second -%}
    {#- A nanosecond takes three digits more; mostly there is none. -#}
    {%- set is_nanos = per_second == 1000000000 -%}
    {%- set form = "'%s%02d:%02d:%02d.%06d'" -%}
    {%- set fraction = rest ~ ' * ' ~ (1000000 // per_second) -%}
    {%- if is_nanos -%}
        {%- set is_short = number ~ ' % 1000 = 0' -%}
        {%- set form = 'if(' ~ is_short ~ ', ' ~ form ~ ', ' ~ form | replace('6', '9') ~ ')' -%}
        {%- set fraction = 'if(' ~ is_short ~ ', ' ~ rest ~ ' div 1000, ' ~ rest ~ ')' -%}
    {%- endif -%}
    case
        when abs({{ number }}) >= 0 then format_string(
            {{ form }},
            if({{ number }} < 0, '-', ''),
            abs({{ number }}) div {{ per_second * 3600 }},
            abs({{ number }}) div {{ per_second * 60 }} % 60,
            abs({{ number }}) div {{ per_second }} % 60,
            {{ fraction }}
        )
    end
{%- endmacro -%}
