{#- Refuses a run while `hashed` names a column that no history model has: the one that was meant would be in clear. -#}
{%- macro check_hashed_columns() -%}
    {%- if execute and flags.WHICH in ['run', 'build'] -%}
        {%- set known = [] -%}
        {%- for node in graph.nodes.values() -%}
            {%- do known.extend(node.config.get('meta', {}).get('hashed', [])) -%}
        {%- endfor -%}
        {%- for pattern, names in var('hashed').items() -%}
            {%- for name in names if [pattern, name] not in known -%}
                {%- do exceptions.raise_compiler_error(
                    "hashed: no history model of a table '" ~ pattern ~ "' has a column '" ~ name
                    ~ "'; name a column as its model has it, or leave it out of hashed"
                ) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
