{#-
    A time as text in the form of time_text, from the ISO text of a local time.

    >>> iso_time_text('starts_at').split('\n')[1].strip()
    when starts_at rlike '^-?[0-9]{2,}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?Z?$'
-#}
{%- macro iso_time_text(text) -%}
    case
        when {{ text }} rlike '^-?[0-9]{2,}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?Z?$'
            then concat(
                regexp_extract({{ text }}, '^[-0-9:]+', 0),
                '.',
                regexp_extract(rpad(regexp_extract({{ text }}, '[.]([0-9]+)', 1), 9, '0'), '^([0-9]{6})(?=000)|^.*', 0)
            )
    end
{%- endmacro -%}
