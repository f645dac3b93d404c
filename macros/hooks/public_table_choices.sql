{#-
    The public tables that `public_as_table` may name. Each has its name, and either `rows`, a relation that shows its
    rows at the candidate, or the `history` of a captured table. The one that shows the pointer must wait until it has moved.
-#}
{%- macro public_table_choices() -%}
    {%- set choices = [
        {'name': 'published_cut', 'rows': public_relation('published_cut') | string, 'shows_pointer': true}
    ] -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'model' -%}
        {%- set meta = node.config.get('meta', {}) -%}
        {%- if node.config.materialized == 'row_history' -%}
            {%- do choices.append({
                'name': meta.public_name,
                'history': node.relation_name,
                'sources': meta.captured.sources,
                'shows_pointer': false
            }) -%}
        {%- elif node.config.materialized == 'published_table' -%}
            {%- do choices.append({
                'name': meta.get('public_name', node.alias), 'rows': node.relation_name, 'shows_pointer': false
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(choices) -}}
{%- endmacro -%}
