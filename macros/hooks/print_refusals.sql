{#- Why sources could not be judged, a line for each. -#}
{%- macro print_refusals(proof) -%}
    {%- set said = "select content from " ~ proof ~ " where kind = 'refusal' and cut_id = " ~ candidate('cut_id') -%}
    {%- for row in run_query(said ~ ' order by source').rows -%}
        {%- do print_line(row[0]) -%}
    {%- endfor -%}
{%- endmacro -%}
