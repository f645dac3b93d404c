with

new_source as (

    select source from {{ ref('stg_message') }}
    where kind = 'change' and source is not null
    group by source

),

guessed_topic as (

    select topic
    from {{ source('pointer', 'partition_progress') }}
    where {{ run_has('nameless_topic') }} and cut_id = {{ candidate('starting_cut_id') }}
    group by topic
    having max(size(sources)) = 0 and max(marker_source) is null

)

-- Messages are read only if there is such a topic.
select /*+ broadcast(guessed) */
    -- identity
    guessed.topic,

    -- where it comes from
    max_by(new_source.source, length(new_source.source)) as source
from guessed_topic as guessed
inner join new_source
    on contains(concat('.', guessed.topic), concat('.', new_source.source, '.'))
group by guessed.topic
