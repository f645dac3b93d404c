with

published_cut as (

    select inline(cut.source_cuts)
    from {{ source('pointer', 'cut') }} as cut
    where cut.channel = 'published'

)

select
    published_cut.source,
    published_cut.commit_number as published_commit_number,
    int_cut.commit_number
from published_cut
left join {{ ref('int_cut') }} as int_cut
    on published_cut.source = int_cut.source
where
    int_cut.commit_number is null
    or int_cut.commit_number < published_cut.commit_number
