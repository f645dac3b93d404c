{#-
    A decimal from its text, unless a digit would be rounded away. What has an exponent is a JSON number that passed
    through a double, which holds it (image_of sees to that).

    >>> decoded_decimal('total', 'decimal(12,2)')
    case
        when
            cast(try_cast(total as decimal(12,2)) as string) = total
            or total rlike '^\ufdd0*[-+]?[0-9]+([.][0-9]{0,2}0*)?$'
            or length(regexp_extract(total, '^\ufdd0*-?[0-9]+[.]([0-9]*?)0*[eE]', 1))
                - try_cast(regexp_extract(total, '[eE](.*)', 1) as int) <= 2
            then try_cast(ltrim('\ufdd0', total) as decimal(12,2))
    end
-#}
{%- macro decoded_decimal(text, spark_type) -%}
    {%- set scale = (spark_type ~ ',0').split(',')[1].split(')')[0].strip() -%}
    case
        when
            cast(try_cast({{ text }} as {{ spark_type }}) as string) = {{ text }}
            or {{ text }} rlike '^\ufdd0*[-+]?[0-9]+([.][0-9]{0,{{ scale }}}0*)?$'
            or length(regexp_extract({{ text }}, '^\ufdd0*-?[0-9]+[.]([0-9]*?)0*[eE]', 1))
                - try_cast(regexp_extract({{ text }}, '[eE](.*)', 1) as int) <= {{ scale }}
            then try_cast(ltrim('\ufdd0', {{ text }}) as {{ spark_type }})
    end
{%- endmacro -%}
