select
    -- identity
    placed.source,
    placed.schema_name,
    placed.table_name,
    placed.commit_number,
    placed.position,

    -- what it is
    placed.operation,
    new_commit.is_read_twice,
    new_commit.proof,

    -- where its commit stands
    placed.committed_at,
    new_commit.commit_position,

    -- delivery
    placed.topic,

    -- payload
    placed.row_key,
    placed.before,

    -- The kind of the commit that read it: a snapshot, or a transaction that closed a window.
    case when placed.transaction_id is null then new_commit.link_kind end as read_in
from {{ ref('int_change') }} as placed
inner join {{ ref('int_new_commit') }} as new_commit
    on
        placed.source = new_commit.source
        and placed.commit_number = new_commit.commit_number
where
    placed.cut_id = {{ candidate('cut_id') }}
    and placed.topic is not null
    and placed.table_name is not null
