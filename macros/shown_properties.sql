{#-
    What Spark says of a table, with its properties as they are: Spark 4.1 shows them letter by letter.

    >>> shown_properties('m, a, r, k, =, 1')
    mark=1
-#}
{%- macro shown_properties(information) -%}
    {{- (information or '') | replace(', ', '') -}}
{%- endmacro -%}
