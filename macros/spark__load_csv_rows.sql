{#-
    Overrides dbt-spark's, which puts each value of a seed between quotes as it is: a decision with an apostrophe in its
    reason, or about a transaction whose id has one, would end the literal.
-#}
{%- macro spark__load_csv_rows(model, agate_table) -%}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set statements = [] -%}
    {%- for chunk in agate_table.rows | batch(get_batch_size()) -%}
        {%- set rows = [] -%}
        {%- for row in chunk -%}
            {%- set values = [] -%}
            {%- for name in agate_table.column_names -%}
                {%- set value = row[loop.index0] -%}
                {%- if value is not none and value is not number -%}
                    {%- set value = value | string -%}
                {%- endif -%}
                {%- do values.append(
                    'cast(' ~ (value if value is number and value is not boolean else string_literal(value))
                    ~ ' as ' ~ types.get(name, adapter.convert_type(agate_table, loop.index0)) ~ ')'
                ) -%}
            {%- endfor -%}
            {%- do rows.append('(' ~ values | join(', ') ~ ')') -%}
        {%- endfor -%}
        {%- set statement = 'insert into ' ~ this.render() ~ ' values ' ~ rows | join(', ') -%}
        {%- do adapter.add_query(statement, abridge_sql_log=True) -%}
        {%- do statements.append(statement) -%}
    {%- endfor -%}
    {{- return(statements[0] if statements else '') -}}
{%- endmacro -%}
