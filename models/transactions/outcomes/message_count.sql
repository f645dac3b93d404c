{#- dbt finds what a model reads only outside of conditions. -#}
{%- set topic = ref('int_topic') -%}
with

-- Changes that a later one of the same commit hides: of the same row, or a TRUNCATE (P3).
placed_change as (

    select
        source,
        topic,
        partition,
        -- A statement of DDL is no change.
        topic is not null
        and (event_hash is not null or operation != {{ op('truncate') }})
        and (
            (row_key is not null and lead(position) over of_row is not null)
            or position < max(case when operation = {{ op('truncate') }} then position end)
                over (partition by source, commit_number, schema_name, table_name)
        ) as is_hidden
    from {{ ref('int_change') }}
    where cut_id = {{ candidate('cut_id') }}
    window of_row as (
        partition by source, commit_number, schema_name, table_name, row_key
        order by position
    )

),

settled_count as (

    select
        source,
        topic,
        partition,
        outcome,
        message_count
    from {{ ref('proof') }}
    where cut_id = {{ candidate('cut_id') }} and kind = 'outcome'
    union all
    select
        source,
        topic,
        partition,
        inline(array(
            struct('superseded', count(*)),
            struct('applied', -count(*))
        )) as (outcome, message_count)
    from placed_change
    where is_hidden
    group by source, topic, partition
    union all
    -- While nothing shows whose they are, BEGIN and END wait under no source. BEGIN of SQL Server
    -- does not say of which database it is, nor does what cannot be read.
    select
        case when is_unplaced then '' else source end as source,
        topic,
        partition,
        case
            when is_repeated_delivery then 'duplicate'
            when is_unplaced then 'held'
            when kind in ('quarantined', 'tombstone') then kind
            else 'control'
        end as outcome,
        count(*) as message_count
    from {{ ref('int_message') }}
    where is_unplaced or not array_contains(judged_sources, source)
    group by all
    {% if is_incremental() -%}
    union all
    -- Copies may land before anything shows their source.
    select
        coalesce(topic.marker_source, built.source) as source,
        built.topic,
        built.partition,
        built.outcome,
        built.message_count
    from {{ this }} as built
    left join {{ topic }} as topic
        on
            built.source = ''
            and built.topic = topic.topic
            and topic.cut_id = {{ candidate('cut_id') }}
    where built.cut_id = {{ candidate('starting_cut_id') }} and built.outcome != 'held'
    {%- endif %}

)

select
    -- identity
    {{ candidate('cut_id') }}L as cut_id,
    settled_count.source,
    settled_count.topic,
    settled_count.partition,
    settled_count.outcome,

    -- counts
    sum(settled_count.message_count) as message_count
from settled_count
group by
    settled_count.source,
    settled_count.topic,
    settled_count.partition,
    settled_count.outcome
having sum(settled_count.message_count) != 0
