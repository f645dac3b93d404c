{#- dbt finds what a model reads only outside of conditions. -#}
{%- set transaction_topic = ref('int_transaction_topic') -%}
with

settled_count as (

    select
        source,
        topic,
        partition,
        outcome,
        count(*) as message_count
    from {{ ref('int_outcome') }}
    group by source, topic, partition, outcome
    {% if is_incremental() -%}
    union all
    -- Copies and garbage of a transaction topic may land before anything shows its source.
    select
        coalesce(transaction_topic.source_prefix, built.source) as source,
        built.topic,
        built.partition,
        built.outcome,
        built.message_count
    from {{ this }} as built
    left join {{ transaction_topic }} as transaction_topic
        on built.source = '' and built.topic = transaction_topic.topic
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
