{#-
    A number, or null where it lies outside two bounds.

    >>> bounded('day', -1, 9)
    case when day between -1 and 9 then day end
-#}
{%- macro bounded(number, least, most) -%}
    case when {{ number }} between {{ least }} and {{ most }} then {{ number }} end
{%- endmacro -%}
