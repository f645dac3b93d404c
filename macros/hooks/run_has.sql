{#-
    Whether this run has rows of one of the named rare_kinds. Where it has none, what would follow from them is left out,
    as Spark takes as long to plan that and to find nothing (decision 21). It stands in a condition of Jinja around a part
    of a query, or in a condition of SQL, where it is True or False. Each table is asked once a run. A view must not ask,
    as it would keep the answer.
-#}
{%- macro run_has() -%}
    {%- set kinds = rare_kinds() -%}
    {%- set found = [] -%}
    {%- for kind in varargs -%}
        {%- if kind not in kinds -%}
            {%- do exceptions.raise_compiler_error(
                "run_has: '" ~ kind ~ "' is not looked for; known: " ~ kinds | join(', ')
            ) -%}
        {%- endif -%}
        {%- set table = kinds[kind][0] -%}
        {#- dbt finds what a model reads only outside of conditions. -#}
        {%- set relation = source(*table.split('.')) if '.' in table else ref(table) -%}
        {%- if not execute or not load_relation(relation) -%}
            {%- do found.append(true) -%}
        {%- else -%}
            {%- set key = 'debezium_has_' ~ table -%}
            {%- if key not in graph -%}
                {%- set columns = [] -%}
                {%- for name, (asked, condition) in kinds.items() if asked == table -%}
                    {%- do columns.append('coalesce(bool_or(' ~ condition ~ '), false) as ' ~ name) -%}
                {%- endfor -%}
                {%- do graph.update(
                    {key: dict(run_query('select ' ~ columns | join(', ') ~ ' from ' ~ relation).rows[0].items())}
                ) -%}
            {%- endif -%}
            {%- do found.append(graph[key][kind]) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(true in found) -}}
{%- endmacro -%}
