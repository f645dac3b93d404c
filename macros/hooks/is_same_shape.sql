{#-
    True when a query yields the columns that a stored table has, by name and type and in order, but for those that are
    left out. Spark would cast the rows to the stored types, and round them. Iceberg stores small integers as int.
-#}
{%- macro is_same_shape(stored, query, left_out=['cut_id']) -%}
    {%- set shapes = [] -%}
    {%- for select in ['select * from ' ~ stored, query] -%}
        {%- set shape = [] -%}
        {%- for column in get_column_schema_from_query(select) if column.name not in left_out -%}
            {%- do shape.append((column.name, modules.re.sub('\\b(tinyint|smallint)\\b', 'int', column.dtype))) -%}
        {%- endfor -%}
        {%- do shapes.append(shape) -%}
    {%- endfor -%}
    {{- return(shapes[0] == shapes[1]) -}}
{%- endmacro -%}
