{% if run_has('read') -%}
with

-- A snapshot that was interrupted, and begun again before the source had committed anything: of a
-- table every marker but the plain one comes once.
read_twice_table as (

    select
        source,
        unit_id
    from {{ ref('stg_message') }}
    where kind = 'change' and unit_kind = 'snapshot'
    group by source, unit_id, data_collection
    having
        count_if(snapshot != 'true' and not is_repeated_delivery)
        > size(collect_set(nullif(snapshot, 'true')))

),

read_twice as (

    select
        source,
        unit_id
    from read_twice_table
    group by source, unit_id

)

{% endif -%}
select
    -- identity
    proven.source,
    proven.commit_number,

    -- position
    proven.commit_position,
    proven.snapshot_position,

    -- what it is
    proven.link_kind,
    proven.transaction_id,
    proven.proof,
    {{ 'read_twice.unit_id is not null' if run_has('read') else 'false' }} as is_read_twice
from {{ ref('commit') }} as proven
{% if run_has('read') -%}
left join read_twice
    on proven.source = read_twice.source and proven.snapshot_position = read_twice.unit_id
{% endif -%}
where proven.cut_id = {{ candidate('cut_id') }}
