{#-
    Refuses columns of a history that Spark or our own columns would swallow.

    >>> check_column_names('public.orders', ['id', 'note']) == ''
    True

    >>> check_column_names('public.orders', ['id', '_change'])
    public.orders: column '_change' is called like one of ours; leave it out of its history model

    >>> check_column_names('public.orders', ['id', '_deleted'])
    public.orders: column '_deleted' is called like a metadata column of Iceberg; leave it out of its history model

    >>> check_column_names('public.orders', ['id', 'ID'])
    public.orders: columns called 'id' differ in case only, which Spark cannot hold; leave one out of its history model
-#}
{%- macro check_column_names(place, names) -%}
    {%- set own = [
        '_source', '_row_key', '_valid_from', '_valid_to', '_valid_from_at', '_valid_to_at', '_change', 'is_version'
    ] -%}
    {%- set metadata = [
        '_file', '_pos', '_deleted', '_spec_id', '_partition', '_row_id', '_last_updated_sequence_number',
        '_change_type', '_change_ordinal', '_commit_snapshot_id'
    ] -%}
    {%- set seen = [] -%}
    {%- for name in names -%}
        {%- if name | lower in own -%}
            {%- do exceptions.raise_compiler_error(
                place ~ ": column '" ~ name ~ "' is called like one of ours; leave it out of its history model"
            ) -%}
        {%- endif -%}
        {%- if name | lower in metadata -%}
            {%- do exceptions.raise_compiler_error(
                place ~ ": column '" ~ name ~ "' is called like a metadata column of Iceberg; leave it out of its history model"
            ) -%}
        {%- endif -%}
        {%- if name | lower in seen -%}
            {%- do exceptions.raise_compiler_error(
                place ~ ": columns called '" ~ name | lower ~ "' differ in case only, which Spark cannot hold;"
                ~ ' leave one out of its history model'
            ) -%}
        {%- endif -%}
        {%- do seen.append(name | lower) -%}
    {%- endfor -%}
{%- endmacro -%}
