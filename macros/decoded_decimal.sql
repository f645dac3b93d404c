{#-
    A decimal from its text, unless a digit would be rounded away. What has an exponent is a JSON number that passed
    through a double, which holds it (image_of sees to that).

    Java writes out the zeros that an exponent stands for, and reads digits in time that grows with their square:
    1e-1000000000 and 1e2147483647 fail the run, and ten million digits stop it. So no such text is cast.

    >>> decoded_decimal('total', 'decimal(12,2)').split('\n')[5].strip()
    and cast(try_cast(total as decimal(12,2)) as string) = total
-#}
{%- macro decoded_decimal(text, spark_type) -%}
    {%- set scale = (spark_type ~ ',0').split(',')[1].split(')')[0].strip() -%}
    case
        when
            length({{ text }}) <= 20000
            and (
                not contains({{ text }}, 'e') and not contains({{ text }}, 'E')
                and cast(try_cast({{ text }} as {{ spark_type }}) as string) = {{ text }}
                or {{ text }} rlike '^\ufdd0*[-+]?[0-9]+([.][0-9]{0,{{ scale }}}0*)?$'
                or try_cast(regexp_extract({{ text }}, '[eE](.*)', 1) as int) between -400 and 400
                and length(regexp_extract({{ text }}, '^\ufdd0*-?[0-9]+[.]([0-9]*?)0*[eE]', 1))
                - try_cast(regexp_extract({{ text }}, '[eE](.*)', 1) as int) <= {{ scale }}
            )
            then try_cast(ltrim('\ufdd0', {{ text }}) as {{ spark_type }})
    end
{%- endmacro -%}
