with

-- Behind a restart inside the first transaction of a stream its changes name the last one before
-- the restart (Debezium 3.6.3), which is no predecessor.
named_transaction as (

    select
        * except (previous_commit_position),
        {{ matches_any('source', var('watermark_sources')) }} as is_watermark_source,
        case
            when
                previous_commit_position
                between first_event_position and last_nameless_event_position
                and first_naming_event_position > previous_commit_position
                then null
            else previous_commit_position
        end as previous_commit_position
    from {{ ref('int_transaction_count') }}

),

ended_transaction as (

    select
        named.* except (end_position),
        coalesce(named.end_position, named_end.commit_position) as end_position
    from named_transaction as named
    left join {{ ref('int_named_end') }} as named_end
        on named.source = named_end.source and named.transaction_id = named_end.transaction_id

),

ordered_transaction as (

    select
        *,
        {{ epoch_of('coalesce(last_event_position, end_position)') }} as epoch,
        coalesce(previous_commit_position, first_event_position, end_position) as stream_position
    from ended_transaction

)

-- A step adds to what it reads.
select
    counted.*,  -- noqa: AM04
    -- If END gives the order, a transaction without END follows the last one before it.
    case
        when counted.is_whole_transaction and counted.has_no_order then null
        when counted.is_whole_transaction and counted.number_position is not null
            then counted.number_position
        when counted.is_whole_transaction or {{ ordered_by_end('counted.connector') }}
            then
                concat(
                    coalesce(
                        max(
                            case
                                when counted.log_position is not null
                                    then counted.end_position
                            end
                        ) over (
                            partition by
                                counted.source, split_part(counted.log_position, '#', 1)
                            order by counted.log_position
                            rows between unbounded preceding and 1 preceding
                        ),
                        split_part(starting_commit.link_position, '+', 1),
                        {{ offset_position(0) }}
                    ),
                    '+',
                    -- Without a place of its own it holds everything that follows the cut.
                    coalesce(counted.last_event_position, '')
                )
    end as position_without_end,
    -- Numbers of several domains of MariaDB have no common order; only BEGIN tells the place.
    counted.is_whole_transaction
    and counted.end_position is null
    and coalesce(counted.log_position like '%domain-%', false)
    and min(split_part(counted.log_position, '#', 1)) over (partition by counted.source)
    != max(split_part(counted.log_position, '#', 1)) over (partition by counted.source)
        as has_unknown_place,
    -- What follows an END begins behind it.
    lead(counted.first_event_position) ignore nulls over (
        partition by counted.source
        order by counted.end_position
    ) as following_event_position,
    -- What the next one names, '' for none. A stream that begins again after its slot was lost
    -- names none, or what the last unfinished transaction of the old stream named.
    lead(
        case
            when counted.received_count > 0 and counted.names_predecessor
                then coalesce(counted.previous_commit_position, '')
        end
    ) over (
        partition by counted.source, counted.epoch
        order by counted.stream_position, counted.last_event_position
    ) as following_previous_position,
    max(counted.last_event_position) over (
        partition by counted.source, counted.epoch
        order by counted.stream_position, counted.last_event_position
        rows between unbounded preceding and 1 preceding
    ) as preceding_event_position,
    counted.received_count > 0
    and (
        -- An END counts its changes whether or not all of them carry a block.
        (not counted.has_block and (not counted.has_end or counted.is_whole_transaction))
        or counted.is_watermark_source
        or (
            counted.is_whole_transaction
            and (
                coalesce(starting_commit.proof != 'counted', false)
                or bool_or(not counted.has_block) over (partition by counted.source)
            )
        )
    ) as is_uncounted,
    -- Other changes are published already, so the transaction topic was recreated.
    counted.received_count > 0
    and coalesce(
        {{ ordered_by_end('counted.connector') }}
        and counted.end_position <= starting_commit.link_position,
        false
    ) as has_known_offset,
    starting_commit.link_position as starting_position
from ordered_transaction as counted
left join {{ ref('int_starting_commit') }} as starting_commit
    on counted.source = starting_commit.source
where counted.received_count > 0 or not counted.is_watermark_source
