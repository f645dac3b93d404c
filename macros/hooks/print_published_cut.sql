{#- One line per source: what was published, what is held and why, what is quarantined and flagged. -#}
{%- macro print_published_cut(summary) -%}
    {%- set shown = 20 -%}
    {%- set rows = run_query(summary).rows -%}
    {%- if not rows -%}
        {%- do print_line('nothing published: nothing has landed; `dbt-debezium land PATH` brings messages') -%}
    {%- endif -%}
    {%- for row in rows[:shown] -%}
        {%- do print_line(row[0]) -%}
    {%- endfor -%}
    {%- if rows | length > shown -%}
        {%- do print_line('and ' ~ (rows | length - shown) ~ ' sources more; `dbt-debezium status` lists them') -%}
    {%- endif -%}
{%- endmacro -%}
