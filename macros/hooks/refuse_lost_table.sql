{#- Refuses to go on without a table that each run adds to: made anew, it would lack what earlier runs wrote. -#}
{%- macro refuse_lost_table(relation) -%}
    {%- do exceptions.raise_compiler_error(
        relation.schema ~ '.' ~ relation.identifier
        ~ ': is gone, and with it what earlier runs wrote there; restore it, or run once with --full-refresh'
    ) -%}
{%- endmacro -%}
