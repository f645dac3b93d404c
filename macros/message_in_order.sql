{#-
    The CTEs of stg_sent_message that give messages of CDL a position in the order of commits (S22), where the project
    names watermark_sources. A change stands at its first copy: the highest LSN up to there, so that reads of a snapshot have
    their place among changes, then its offset. Copies, heartbeats and what has been published show nothing of how far
    a partition has come, so they have no position.
-#}
{%- macro message_in_order(watermark_sources) -%}
-- An LSN of what is published may stand behind one of what is not, so no position tells.
published_transaction as (

    select
        published.source,
        published.transaction_id
    from {{ source('pointer', 'commit') }} as published
    where
        published.cut_id <= {{ candidate('starting_cut_id') }}
        and {{ matches_any('published.source', watermark_sources) }}
    group by published.source, published.transaction_id

),

marked_message as (

    select
        identified.*,
        coalesce(
            split_part(starting_commit.link_position, '/', 1), ''
        ) as starting_log_position,
        published_transaction.source is not null as is_of_published_transaction,
        identified.kind = 'change'
        and published_transaction.source is null
        and row_number() over (
            partition by identified.source, identified.transaction_id, identified.event_hash
            order by identified.topic, identified.partition, identified.`offset`, identified.landing_id
        ) = 1 as is_first_copy
    from identified_message as identified
    left join published_transaction
        on
            identified.source = published_transaction.source
            and identified.transaction_id = published_transaction.transaction_id
    left join starting_commit
        on identified.source = starting_commit.source
    where {{ is_ordered_by_offset('identified', watermark_sources) }}

),

message_in_order as (

    select
        * except (starting_log_position, is_first_copy),
        case
            when snapshot is not null then concat(event_position, '/', {{ offset_position(0) }})
            when is_first_copy
                then concat(
                    greatest(
                        max(case when is_first_copy then event_position end) over (
                            partition by source
                            order by `offset`
                            rows between unbounded preceding and current row
                        ),
                        starting_log_position
                    ),
                    '/',
                    {{ offset_position('`offset`') }}
                )
        end as position_in_order
    from marked_message

),
{%- endmacro -%}
