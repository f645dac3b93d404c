{#-
    The candidate cut: cut_id, starting_cut_id, and is_clean, which is false when the run before this one built
    something and did not publish it. Asked once a run.
-#}
{%- macro candidate() -%}
    {%- if 'debezium_candidate' not in graph -%}
        {%- set rows = run_query(
            "select cut_id, starting_cut_id, is_clean from " ~ source('pointer', 'cut') ~ " where channel = 'candidate'"
        ).rows -%}
        {%- do graph.update({'debezium_candidate': {
            'cut_id': rows[0][0] | int, 'starting_cut_id': rows[0][1] | int, 'is_clean': rows[0][2]
        }}) -%}
    {%- endif -%}
    {{- return(graph['debezium_candidate']) -}}
{%- endmacro -%}
