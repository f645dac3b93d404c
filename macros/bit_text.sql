{#-
    Bits as text, highest first, from the base64 of little-endian bytes. A length that is not given is not known: then
    no leading zero is shown.

    >>> bit_text('flags', '5').split('\n')[-2].strip()
    bits -> case when length(bits) <= 5 then lpad(bits, 5, '0') end
-#}
{%- macro bit_text(text, length) -%}
    element_at(transform(
        array(ltrim('0', array_join(transform(
            reverse(split(hex(try_to_binary({{ text }}, 'base64')), '(?<=\\G..)')), byte -> lpad(conv(byte, 16, 2), 8, '0')
        ), ''))),
        bits -> {% if length %}case when length(bits) <= {{ length }} then lpad(bits, {{ length }}, '0') end{% else %}bits{% endif %}
    ), 1)
{%- endmacro -%}
