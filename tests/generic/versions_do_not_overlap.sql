{#-
    The versions of a row follow each other: each begins before it ends, none begins before the one before it has
    ended, and only the last is open. Looks at the rows that this run changed, and at no table that it left alone.
-#}
{%- test versions_do_not_overlap(model) -%}
with

changed_row as (

    select
        built._source,
        built._row_key
    from {{ model }} as built
    left join {{ ref('int_starting_commit') }} as starting_commit
        on built._source = starting_commit.source
    where
        {% if is_untouched(model.identifier) -%}
        false
        {%- else -%}
        built._valid_from > coalesce(starting_commit.commit_number, 0)
        or built._valid_to > coalesce(starting_commit.commit_number, 0)
        {%- endif %}
    group by built._source, built._row_key

),

followed_version as (

    select
        built._source,
        built._row_key,
        built._valid_from,
        built._valid_to,
        lead(built._valid_from) over (
            partition by built._source, built._row_key
            order by built._valid_from
        ) as next_valid_from
    from {{ model }} as built
    left semi join changed_row
        on
            built._source <=> changed_row._source
            and built._row_key <=> changed_row._row_key

)

select
    _source,
    _row_key,
    _valid_from,
    _valid_to,
    next_valid_from
from followed_version
where
    _source is null
    or _row_key is null
    or _valid_from >= _valid_to
    or coalesce(_valid_to > next_valid_from, next_valid_from is not null)
{%- endtest -%}
