{#-
    Which rare_kinds the messages of this run have, by name. Asked once a run, when they are staged: of the models that
    come next, two at once would ask.
-#}
{%- macro kinds_found(staged) -%}
    {%- set kinds = rare_kinds() -%}
    {%- if execute and 'debezium_rare_kinds' not in graph -%}
        {%- set columns = [] -%}
        {%- for name, condition in kinds.items() -%}
            {%- do columns.append('coalesce(' ~ condition ~ ', false) as ' ~ name) -%}
        {%- endfor -%}
        {%- set found = run_query('select ' ~ columns | join(', ') ~ ' from ' ~ staged).rows[0] -%}
        {%- do graph.update({'debezium_rare_kinds': dict(found.items())}) -%}
    {%- endif -%}
    {{- return(graph['debezium_rare_kinds'] if execute else {}) -}}
{%- endmacro -%}
