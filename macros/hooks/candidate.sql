{#-
    A number of the candidate cut: cut_id and landing_id, what the run builds, or starting_cut_id and
    starting_landing_id, what it starts from. And is_clean, which is false when the run before this one built something
    and did not publish it. Queried once per run and written into statements as literals, so that Iceberg skips files,
    which it does not for a join with the pointer. All 0 before anything was built.
-#}
{%- macro candidate(name) -%}
    {#- dbt finds what a model reads only outside of conditions. -#}
    {%- set cut = source('pointer', 'cut') -%}
    {%- set nothing = {
        'cut_id': 0, 'landing_id': 0, 'starting_cut_id': 0, 'starting_landing_id': 0, 'is_clean': true
    } -%}
    {%- if not execute -%}
        {{- return(nothing[name]) -}}
    {%- endif -%}
    {%- if 'debezium_candidate' not in graph -%}
        {%- set is_open = flags.WHICH in ['run', 'build'] or load_relation(cut) is not none -%}
        {%- set rows = run_query(
            'select ' ~ nothing | join(', ') ~ ' from ' ~ cut ~ " where channel = 'candidate'"
        ).rows if is_open else [] -%}
        {%- set numbers = dict(rows[0].items()) if rows else nothing -%}
        {%- do graph.update({'debezium_candidate': numbers}) -%}
    {%- endif -%}
    {{- return(graph['debezium_candidate'][name]) -}}
{%- endmacro -%}
