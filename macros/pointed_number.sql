{#-
    The text of an integer with a decimal point before its last digits. The sign is taken off as text: Spark's abs
    and minus round a decimal of more than 34 digits.

    >>> pointed_number('n', '2').split('\n')[4].strip()
    if(2 > 0, '.', ''),
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
