with

new_commit as (

    select
        proven.source,
        proven.commit_number,
        coalesce(starting_commit.commit_number, 0) as starting_commit_number
    from {{ ref('commit') }} as proven
    left join {{ ref('int_starting_commit') }} as starting_commit
        on proven.source = starting_commit.source
    where proven.cut_id = {{ candidate('cut_id') }}

)

select
    source,
    starting_commit_number,
    min(commit_number) as first_commit_number,
    max(commit_number) as last_commit_number,
    count(*) as commit_count
from new_commit
group by source, starting_commit_number
having
    min(commit_number) is distinct from starting_commit_number + 1
    or max(commit_number) is distinct from starting_commit_number + count(*)
    or count(distinct commit_number) is distinct from count(*)
