{#-
    The integer that hexadecimal digits hold in two's complement, highest first; null beyond 38 digits. A negative
    number is the complement of another, less one, so no step has more digits than the result.

    >>> unscaled_integer('h').split('\n')[2].strip()
    then cast(conv(lpad(h, 16, if(h < '8', '0', 'F')), 16, -10) as decimal(38,0))
-#}
{%- macro unscaled_integer(digits) -%}
    {%- set magnitude -%}
        lpad(if({{ digits }} < '8', {{ digits }}, translate({{ digits }}, '0123456789ABCDEF', 'FEDCBA9876543210')), 32, '0')
    {%- endset -%}
    case
        when length({{ digits }}) between 2 and 16
            then cast(conv(lpad({{ digits }}, 16, if({{ digits }} < '8', '0', 'F')), 16, -10) as decimal(38,0))
        when length({{ digits }}) between 17 and 32
            then if({{ digits }} < '8', 1, -1) * (
                cast(conv(substr({{ magnitude }}, 1, 16), 16, 10) as decimal(20,0))
                * 18446744073709551616bd
                + cast(conv(substr({{ magnitude }}, 17), 16, 10) as decimal(20,0))
            ) - if({{ digits }} < '8', 0, 1)
    end
{%- endmacro -%}
