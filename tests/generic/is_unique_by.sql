{#-
    No two rows agree in the key columns, and no key column is null but those named in `nullable`. With `of_cut` only
    the rows of the cut that this run builds are looked at: earlier ones were when they were new. With `history` none
    are, if this run has left the history of that name as it was: the model shows its rows alone.
-#}
{%- test is_unique_by(model, columns, nullable=none, of_cut=false, history=none) -%}
{%- set not_null_columns = columns | reject('in', nullable or []) -%}
select
    {{ columns | join(', ') }},
    count(*) as row_count
from {{ model }}
{%- if of_cut %}
where cut_id = {{ candidate('cut_id') }}
{%- elif is_untouched(history) %}
where false
{%- endif %}
group by {{ columns | join(', ') }}
having count(*) > 1 or {{ not_null_columns | join(' is null or ') }} is null
{%- endtest -%}
