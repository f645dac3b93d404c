{#-
    Overrides dbt-spark's, which creates the table of a seed and then fills it. Here one statement does both, and also
    replaces a table that is there: a run that is killed leaves no lake without its decisions. None is needed if the
    file and the types of its columns are as they were. Each value is a literal of its own: between quotes as it is, an
    apostrophe in the reason of a decision would end the literal.
-#}
{%- macro spark__create_csv_table(model, agate_table) -%}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set columns = [] -%}
    {%- for name in agate_table.column_names -%}
        {%- do columns.append({
            'name': adapter.quote_seed_column(name | string, model['config'].get('quote_columns', none)),
            'type': types.get(name, adapter.convert_type(agate_table, loop.index0)),
        }) -%}
    {%- endfor -%}
    {%- set rows = [] -%}
    {%- for row in agate_table.rows -%}
        {%- set values = [] -%}
        {%- for value in row -%}
            {%- set type = columns[loop.index0].type -%}
            {%- set is_bare = value is number and value is not boolean -%}
            {%- if value is none -%}
                {%- do values.append('cast(null as ' ~ type ~ ')') -%}
            {%- else -%}
                {%- set text = value | string -%}
                {%- set literal = text if is_bare else string_literal(text) -%}
                {%- do values.append('cast(' ~ literal ~ ' as ' ~ type ~ ')') -%}
            {%- endif -%}
        {%- endfor -%}
        {%- do rows.append('(' ~ values | join(', ') ~ ')') -%}
    {%- endfor -%}
    {%- set nulls = [] -%}
    {%- for column in columns -%}
        {%- do nulls.append('cast(null as ' ~ column.type ~ ')') -%}
    {%- endfor -%}
    {%- set filled -%}
        select * from values {{ rows | join(', ') if rows else '(' ~ nulls | join(', ') ~ ')' }}
        as seed({{ columns | join(', ', attribute='name') }})
        {{- '' if rows else ' where false' }}
    {%- endset -%}
    {%- set mark = 'dbt_debezium.seed_mark=' ~ local_md5(filled) -%}
    {%- set existing = load_relation(this) -%}
    {%- set known = shown_properties(existing.information) if existing is not none else '' -%}
    {%- if should_full_refresh() or mark not in known -%}
        {%- set statement -%}
            create or replace table {{ this.render() }}
            {{ file_format_clause() }}
            {{ partition_cols(label='partitioned by') }}
            {{ clustered_cols(label='clustered by') }}
            {{ location_clause() }}
            {{ comment_clause() }}
            tblproperties (
                'dbt_debezium.seed_mark' = '{{ local_md5(filled) }}', {{ metadata_properties(read_by='runs') }}
            )
            as {{ filled }}
        {%- endset -%}
        {%- do adapter.add_query(statement, abridge_sql_log=True) -%}
        {{- return(statement) -}}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro -%}
