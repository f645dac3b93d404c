{#-
    The first commit of each source that a history of this run cannot take, by the reason to hold it: the beginning of a
    query, which ends with the relation `failing` of source and commit_number.
-#}
{%- macro failing_commits(result, captured, changes, facts) -%}
    {%- if captured.is_keyless -%}
        {#- Its own query, up to its missing rows (S12). -#}
        {%- set query = (result.node.compiled_code or '').partition('\n\nrow_change as (\n')[0] -%}
        {%- set has_failed = 'takes a row that the keyless table' in (result.message or '') and '\nmissing_row as (\n' in query -%}
        {{- return(
            {'missing_row': query ~ '\n\nfailing as (select source, first_commit_number as commit_number from missing_row)'}
            if has_failed else {}
        ) -}}
    {%- endif -%}
    {%- set lacking -%}
        with failing as (
            select source, min(commit_number) as commit_number
            from {{ changes }}
            where
                cut_id = {{ candidate('cut_id') }}
                and {{ matches_any('source', captured.sources) }}
                and schema_name <=> {{ string_literal(captured.schema) }}
                and table_name = {{ string_literal(captured.table) }}
                and operation != {{ op('truncate') }}
                and
                {% if captured.identity -%}
                ({{ identity_values(captured.identity) | join(' is null or ') }} is null)
                {%- else -%}
                row_key is null
                {%- endif %}
            group by source
        )
    {%- endset -%}
    {%- set failing = {'row_without_identity': lacking} -%}
    {%- set keys = [] -%}
    {%- for _, key in facts['keys'].get((captured.schema, captured.table), [])
        if key.cut_id == candidate('cut_id') and refuses_key(captured, key) -%}
        {%- do keys.append('(' ~ string_literal(key.source) ~ ', ' ~ key.commit_number ~ ')') -%}
    {%- endfor -%}
    {%- if keys -%}
        {%- do failing.update({
            'other_key': 'with failing as (select source, min(commit_number) as commit_number from values '
                ~ keys | join(', ') ~ ' as changed (source, commit_number) group by source)'
        }) -%}
    {%- endif -%}
    {{- return(failing) -}}
{%- endmacro -%}
