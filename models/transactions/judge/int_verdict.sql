select
    -- identity
    source,
    link_kind,
    position,
    transaction_id,

    -- verdict
    verdict,
    held_reason,
    proof,
    commit_number,
    refusal,

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
