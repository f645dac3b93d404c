select
    -- identity
    source,
    link_number,
    link_kind,
    position,
    read_position,
    transaction_id,

    -- verdict
    coalesce(verdict, raise_error(refusal)) as verdict,
    held_reason,
    lacking_topics,
    proof,
    commit_number,

    -- provenance
    {{ candidate('cut_id') }}L as cut_id
from
    judge_marks(
        table (
            select
                source,
                kind,
                position,
                link_order,
                link_name,
                event_order,
                mark
            from {{ ref('int_mark') }}
        )
        partition by source
        -- Facts of the whole source come first, and links that have no position last.
        order by
            struct(
                link_order is not null,
                position is null,
                position,
                link_order,
                link_name,
                event_order
            )
    )
