{#-
    Refuses a history model that reads a hashed column as another type than text, or leaves it out too. Else the model
    keeps which of its columns are hashed, for check_hashed_columns.
-#}
{%- macro check_hashed_model(captured, columns) -%}
    {%- set table = (captured.schema ~ '.' if captured.schema else '') ~ captured.table -%}
    {%- set found = [] -%}
    {%- for pattern, names in var('hashed').items() if matching([pattern], [table]) -%}
        {%- for name in names -%}
            {%- if name in (captured.left_out or []) -%}
                {%- do exceptions.raise_compiler_error(
                    table ~ ": column '" ~ name ~ "' is hashed and left out; name it in hashed or in left_out of its history "
                    ~ 'model, not in both'
                ) -%}
            {%- elif columns.get(name, 'string') != 'string' -%}
                {%- do exceptions.raise_compiler_error(
                    table ~ ": column '" ~ name ~ "' is hashed, and its history model reads it as '" ~ columns[name]
                    ~ "'; make it 'string' there, because hashes are text"
                ) -%}
            {%- elif name in columns -%}
                {%- do found.append([pattern, name]) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if found -%}
        {%- do config(meta={'hashed': found}) -%}
    {%- endif -%}
{%- endmacro -%}
