{#-
    Refuses a history model that reads a hashed column as another type than text, or leaves it out too. Otherwise the
    model keeps which of its columns are hashed, for check_hashed_columns. Names are compared in any case, as where messages are read.
-#}
{%- macro check_hashed_model(captured, columns) -%}
    {%- set table = full_table_name(captured) -%}
    {%- set found = [] -%}
    {%- for pattern, names in var('hashed', {}).items() if matching([pattern], [table]) -%}
        {%- for name in names -%}
            {%- for column in captured.left_out or [] if column | lower == name | lower -%}
                {%- do exceptions.raise_compiler_error(
                    table ~ ": column '" ~ column ~ "' is hashed and left out; name it in hashed or in left_out of its "
                    ~ 'history model, not in both'
                ) -%}
            {%- endfor -%}
            {%- for column, type in columns.items() if column | lower == name | lower -%}
                {%- if type != 'string' -%}
                    {%- do exceptions.raise_compiler_error(
                        table ~ ": column '" ~ column ~ "' is hashed, and its history model reads it as '" ~ type
                        ~ "'; make it 'string' there, because hashes are text"
                    ) -%}
                {%- endif -%}
                {%- do found.append([pattern, name]) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if found -%}
        {%- do config(meta={'hashed': found}) -%}
    {%- endif -%}
{%- endmacro -%}
