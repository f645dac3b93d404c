{#- Those of the public_table_choices that `public_as_table` names. -#}
{%- macro chosen_public_tables() -%}
    {%- set chosen = [] -%}
    {%- if var('public_as_table') -%}
        {%- for choice in public_table_choices() if matching(var('public_as_table'), [choice.name]) -%}
            {%- do chosen.append(choice) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(chosen) -}}
{%- endmacro -%}
