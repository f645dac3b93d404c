{#-
    What operators call the snapshot at a position, in place of a transaction's id (S16): a decision on one says nothing of
    the next.

    >>> snapshot_id('position')
    concat('snapshot ', regexp_replace(position, '(^|/|: )0+(?=[0-9]+([+/]|$))', '$1'))
-#}
{%- macro snapshot_id(position) -%}
    concat('snapshot ', {{ shown_position(position) }})
{%- endmacro -%}
