{#-
    Why the results of a run must not be published, in words; empty when they may. dbt has no result of an ephemeral
    model, which is a part of those that read it, and does nothing for an exposure (no-op).
-#}
{%- macro unpublished_reason(results) -%}
    {%- set done = [] -%}
    {%- set not_good = [] -%}
    {%- for result in results -%}
        {%- if result.status in ['success', 'pass', 'warn', 'no-op'] -%}
            {%- do done.append(result.node.unique_id) -%}
        {%- else -%}
            {%- do not_good.append(result.node.name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set needed_types = ['model', 'seed', 'test'] if flags.WHICH == 'build' else ['model'] -%}
    {%- set left_out = [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type in needed_types
        and node.config.materialized != 'ephemeral'
        and node.unique_id not in done
        and node.name not in not_good -%}
        {%- do left_out.append(node.name) -%}
    {%- endfor -%}
    {%- if not_good -%}
        {{- not_good | length ~ ' of ' ~ results | length ~ ' failed or were skipped, the first is ' ~ not_good[0]
            ~ '; readers stay on the published cut' -}}
    {%- elif left_out -%}
        {{- left_out | length ~ ' nodes were not selected, the first is ' ~ left_out[0]
            ~ '; run without --select to publish' -}}
    {%- endif -%}
{%- endmacro -%}
