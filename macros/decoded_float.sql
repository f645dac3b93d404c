{#-
    A float or double from its text: NaN and the infinities by name, and numbers that it holds. Texts beyond its
    range, or of more digits than it has, are none.

    >>> decoded_float('rate', 'double')
    case
        when rate in ('NaN', 'Infinity', '-Infinity') then try_cast(rate as double)
        when
            rate rlike '^\ufdd0*-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$'
            and abs(try_cast(ltrim('\ufdd0', rate) as double)) < double('Infinity')
            and (try_cast(ltrim('\ufdd0', rate) as double) != 0 or rate rlike '^[^1-9]*([eE].*)?$')
            and (
                length(rate) <= 15
                or length(regexp_replace(rate, '^[^1-9]*|[.0]*([eE].*)?$|[^0-9]', '')) <= 15
                or (rate rlike '[.eE]' and length(regexp_replace(rate, '^[^1-9]*|[.0]*([eE].*)?$|[^0-9]', '')) <= 17)
                or not rate rlike '[.eE]'
                and cast(try_cast(rate as double) as decimal(38,0)) = try_cast(rate as decimal(38,0))
            )
            then try_cast(ltrim('\ufdd0', rate) as double)
    end
-#}
{%- macro decoded_float(text, spark_type) -%}
    {#- Digits that every number of the type keeps, and digits that may be needed to write one. -#}
    {%- set kept, needed = (6, 9) if spark_type == 'float' else (15, 17) -%}
    {%- set value = "try_cast(ltrim('\\ufdd0', " ~ text ~ ') as ' ~ spark_type ~ ')' -%}
    {%- set no_digit = '^[^1-9]*|[.0]*([eE].*)?$|[^0-9]' -%}
    {%- set digit_count = 'length(regexp_replace(' ~ text ~ ", '" ~ no_digit ~ "', ''))" -%}
    case
        when {{ text }} in ('NaN', 'Infinity', '-Infinity') then try_cast({{ text }} as {{ spark_type }})
        when
            {{ text }} rlike '^\ufdd0*-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$'
            and abs({{ value }}) < double('Infinity')
            and ({{ value }} != 0 or {{ text }} rlike '^[^1-9]*([eE].*)?$')
            and (
                length({{ text }}) <= {{ kept }}
                or {{ digit_count }} <= {{ kept }}
                or ({{ text }} rlike '[.eE]' and {{ digit_count }} <= {{ needed }})
                or not {{ text }} rlike '[.eE]'
                and cast(try_cast({{ text }} as {{ spark_type }}) as decimal(38,0))
                = try_cast({{ text }} as decimal(38,0))
            )
            then {{ value }}
    end
{%- endmacro -%}
