{#-
    The first commit of each source that a history of this run cannot take, by the reason to hold it: the beginning of a
    query, which ends with the relation `failing` of source and commit_number. dbt's message says
    what to ask. The changes answer, as sources and tables may be called like our own errors.
-#}
{%- macro failing_commits(result, captured, changes, shapes, schema_changes) -%}
    {%- set message, failing = result.message or '', {} -%}
    {#- Its own query, up to its missing rows (S12). -#}
    {%- set query = (result.node.compiled_code or '').partition('\n\nrow_change as (\n')[0] -%}
    {%- if 'takes a row that the keyless table' in message and '\nmissing_row as (\n' in query -%}
        {%- do failing.update({
            'missing_row': query ~ '\n\nfailing as (select source, first_commit_number as commit_number from missing_row)'
        }) -%}
    {%- endif -%}
    {%- if 'changes a row of' in message and not captured.is_keyless -%}
        {%- set told = [] -%}
        {%- for name in captured.identity or [] -%}
            {%- do told.append(identity_value(captured.identity, name)) -%}
        {%- endfor -%}
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
                    and ({{ (told or ['row_key']) | join(' is null or ') }} is null)
                group by source
            )
        {%- endset -%}
        {%- do failing.update({'row_without_identity': lacking}) -%}
    {%- endif -%}
    {%- if 'its key changed from' in message -%}
        {%- set keys = ["(null, null)"] -%}
        {%- for _, key in table_facts(shapes, schema_changes)['keys'].get((captured.schema, captured.table), [])
            if key.cut_id == candidate('cut_id') and refuses_key(captured, key) -%}
            {%- do keys.append('(' ~ string_literal(key.source) ~ ', ' ~ key.commit_number ~ ')') -%}
        {%- endfor -%}
        {%- do failing.update({
            'other_key': 'with failing as (select source, min(commit_number) as commit_number from values '
                ~ keys | join(', ') ~ ' as changed (source, commit_number) group by source)'
        }) -%}
    {%- endif -%}
    {{- return(failing) -}}
{%- endmacro -%}
