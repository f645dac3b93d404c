{#-
    The columns of one row of a union, in the order of their types: those with a value, and null for the others.

    >>> row_of({'topic': 'string', 'number': 'bigint'}, {'number': 'end_offset'})
    cast(null as string) as topic,
        end_offset as number
-#}
{%- macro row_of(types, values) -%}
    {%- for name, type in types.items() -%}
        {{ values[name] if name in values else 'cast(null as ' ~ type ~ ')' }} as {{ name }}
        {%- if not loop.last %},
        {% endif -%}
    {%- endfor -%}
{%- endmacro -%}
