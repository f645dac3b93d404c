{#-
    How the topic of a table ends that a transaction counts: with a dot and the last two parts of its name. Oracle's name
    of a table begins with the database, its topic does not.

    >>> table_suffix('data_collection')
    regexp_extract(concat('.', data_collection), '([.][^.]+){1,2}$', 0)
-#}
{%- macro table_suffix(data_collection) -%}
    regexp_extract(concat('.', {{ data_collection }}), '([.][^.]+){1,2}$', 0)
{%- endmacro -%}
