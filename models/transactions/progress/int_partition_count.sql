-- Offsets of one partition say nothing of another.
select
    -- identity
    sent_source as source,

    -- counts
    count(*) as partition_count
from {{ ref('partition_progress') }} lateral view explode(sources) as sent_source
where cut_id = {{ candidate('cut_id') }}
group by sent_source
