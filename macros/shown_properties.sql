{#-
    The properties of a table in what Spark says of it, as they are: Spark 4.1 shows them letter by letter. The line that
    begins like theirs may be one of the table's comment, which stands before them. Names of columns, which follow, keep
    to their lines.

    >>> shown_properties('Comment: a\nTable Properties: [mark=2]\nTable Properties: [m, a, r, k, =, 1]\nSchema: root')
    mark=1]

    >>> shown_properties('Type: VIEW') == ''
    True
-#}
{%- macro shown_properties(information) -%}
    {%- set last = (information or '').split('\nTable Properties: [') -%}
    {{- last[-1].split('\n')[0] | replace(', ', '') if last | length > 1 -}}
{%- endmacro -%}
