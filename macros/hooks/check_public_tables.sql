{#- Refuses a run while `public_as_table` names a table that is not there: the one that was meant would not be kept. -#}
{%- macro check_public_tables() -%}
    {%- if execute and flags.WHICH in ['run', 'build'] and var('public_as_table') -%}
        {%- set names = public_table_choices() | map(attribute='name') | sort -%}
        {%- for pattern in var('public_as_table') if not matching([pattern], names) -%}
            {%- do exceptions.raise_compiler_error(
                'public_as_table: ' ~ tojson(pattern) ~ ' names no public table that can be kept as one; these can: '
                ~ names | join(', ')
            ) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
