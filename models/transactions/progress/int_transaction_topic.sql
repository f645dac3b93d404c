with

placed_topic as (

    select
        named.topic,
        named.marker_count,
        coalesce(
            named.source_prefix,
            case when size(shown.source_prefixes) = 1 then shown.source_prefixes[0] end
        ) as source_prefix,
        coalesce(array_sort(shown.source_prefixes), array()) as shown_prefixes
    from {{ ref('int_named_topic') }} as named
    left join {{ ref('int_shown_prefix') }} as shown
        on named.topic = shown.topic

),

followed_topic as (

    select end_markers[0].topic as topic
    from {{ ref('int_starting_commit') }}
    group by end_markers[0].topic

)

select
    -- identity
    placed.topic,

    -- where it comes from
    placed.source_prefix,
    placed.shown_prefixes,

    -- counts
    placed.marker_count,

    -- The topic that the cut has followed, else the one with the default name.
    row_number() over (
        partition by placed.source_prefix
        order by
            case
                when followed.topic is not null then 1
                when placed.topic = concat(placed.source_prefix, '.transaction') then 2
                else 3
            end,
            placed.topic
    ) = 1 as is_leading
from placed_topic as placed
left join followed_topic as followed
    on placed.topic = followed.topic
