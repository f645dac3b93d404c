{#- The relation of that name in the schema that readers use. -#}
{%- macro public_relation(name) -%}
    {{- return(api.Relation.create(schema=var('public_schema', 'public'), identifier=name, type='view')) -}}
{%- endmacro -%}
