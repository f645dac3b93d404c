{#- The value of each column of identity, of the row that was or is there. -#}
{%- macro identity_values(identity) -%}
    {%- set types = {} -%}
    {%- for name in identity -%}
        {%- do types.update({name: 'string'}) -%}
    {%- endfor -%}
    {%- set image -%}
        from_json(
            case when operation = {{ op('delete') }} then before else after end,
            {{ image_schema(types) }}
        )
    {%- endset -%}
    {%- set values = [] -%}
    {%- for name in identity -%}
        {%- do values.append(image ~ '.' ~ quoted(name)) -%}
    {%- endfor -%}
    {{- return(values) -}}
{%- endmacro -%}
