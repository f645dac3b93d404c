{#-
    The public views of a captured table: its rows at the published cut, and its versions up to that cut with the times
    of the commits that began and ended them. The pointer stands first, see create_pointed_view: commits that are read
    later than it are all there.
-#}
{%- macro create_history_views(history, public_name) -%}
    {%- set columns = [] -%}
    {%- for column in column_names(history)
        if column not in ['_source', '_row_key', '_valid_from', '_valid_to', '_change'] -%}
        {%- do columns.append('versions.' ~ quoted(column) ~ ',') -%}
    {%- endfor -%}
    {%- set public = public_relation(public_name) -%}
    {%- do create_schema(public) -%}
    {%- call statement('create_current_view') -%}
        create or replace view {{ public }} as
        with pointer as (
            select inline(cut.source_cuts) from {{ source('pointer', 'cut') }} as cut where cut.channel = 'published'
        )
        select {{ columns | join(' ') }} versions._change
        from pointer
        inner join {{ history }} as versions
            on
                pointer.source = versions._source
                and versions._valid_from <= pointer.commit_number
                and (versions._valid_to > pointer.commit_number or versions._valid_to is null)
    {%- endcall -%}
    {%- call statement('create_history_view') -%}
        create or replace view {{ public_relation(public_name ~ '_history') }} as
        with pointer as (
            select inline(cut.source_cuts) from {{ source('pointer', 'cut') }} as cut where cut.channel = 'published'
        )
        select
            {{ columns | join(' ') }}
            versions._row_key,
            versions._valid_from,
            case when versions._valid_to <= pointer.commit_number then versions._valid_to end as _valid_to,
            versions._change.committed_at as _valid_from_at,
            ending.committed_at as _valid_to_at,
            versions._change
        from pointer
        inner join {{ history }} as versions
            on
                pointer.source = versions._source
                and versions._valid_from <= pointer.commit_number
        left join {{ ref('commit') }} as ending
            on
                versions._source = ending.source
                and versions._valid_to = ending.commit_number
                and ending.commit_number <= pointer.commit_number
    {%- endcall -%}
{%- endmacro -%}
