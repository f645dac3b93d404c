{#-
    The text of an integer with a decimal point before its last digits. The sign is taken off as text: Spark's abs
    and minus round a decimal of more than 34 digits.

    >>> pointed_number('n', '2')
    case
        when 2 between 0 and 20000 then concat(
            if(n < 0, '-', ''),
            substr(lpad(ltrim('-', n), greatest(length(ltrim('-', n)), 2 + 1), '0'), 1, greatest(length(ltrim('-', n)) - 2, 1)),
            if(2 > 0, '.', ''),
            right(lpad(ltrim('-', n), greatest(length(ltrim('-', n)), 2 + 1), '0'), 2)
        )
        when 2 between -400 and -1 then concat(n, if(n = 0, '', repeat('0', -(2))))
    end
-#}
{%- macro pointed_number(integer, scale) -%}
    {%- set digit_count = "length(ltrim('-', " ~ integer ~ '))' -%}
    {%- set width = 'greatest(' ~ digit_count ~ ', ' ~ scale ~ ' + 1)' -%}
    {%- set digits = "lpad(ltrim('-', " ~ integer ~ '), ' ~ width ~ ", '0')" -%}
    case
        when {{ scale }} between 0 and 20000 then concat(
            if({{ integer }} < 0, '-', ''),
            substr({{ digits }}, 1, greatest({{ digit_count }} - {{ scale }}, 1)),
            if({{ scale }} > 0, '.', ''),
            right({{ digits }}, {{ scale }})
        )
        when {{ scale }} between -400 and -1
            then concat({{ integer }}, if({{ integer }} = 0, '', repeat('0', -({{ scale }}))))
    end
{%- endmacro -%}
