{#-
    A view of the rows that belong to the cut of a channel. The pointer stands first: a reader takes it before any
    data, and data read later than its pointer still holds what the pointer shows.
-#}
{%- macro create_pointed_view(view, stored, channel, columns) -%}
    {%- do create_schema(view) -%}
    {%- call statement('create_pointed_view') -%}
        create or replace view {{ view }} as
        select
            {% for column in columns -%}
            stored.{{ quoted(column) }}{{ ',' if not loop.last }}
            {% endfor %}
        from {{ source('pointer', 'cut') }} as cut
        inner join {{ stored }} as stored
            on cut.cut_id = stored.cut_id
        where cut.channel = '{{ channel }}'
    {%- endcall -%}
{%- endmacro -%}
