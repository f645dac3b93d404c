{#-
    A float or double from its text: NaN and the infinities by name, and numbers that it holds. Texts beyond its
    range, or of more digits than it has, are none.

    >>> decoded_float('rate', 'double').split('\n')[7].strip()
    length(rate) <= 15
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
