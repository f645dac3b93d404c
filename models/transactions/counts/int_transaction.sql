with

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

operator_decision as (

    select * from {{ ref('int_operator_decision') }}

),

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

),

placed_transaction as (

    select
        counted.*,
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
                        -- Without a place of its own it holds all that follows the cut.
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
    left join starting_commit
        on counted.source = starting_commit.source
    where counted.received_count > 0 or not counted.is_watermark_source

),

-- If nothing counts transactions, and a new stream begins with changes that are older than what the
-- old one sent, predecessors do not show which transaction ended where.
streamed_transaction as (

    select
        *,
        bool_or(
            is_uncounted
            and names_predecessor
            and previous_commit_position is null
            and (
                first_event_position <= preceding_event_position
                or nullif(following_previous_position, '')
                <= greatest(last_event_position, starting_position)
            )
        ) over (partition by source) as has_overlapping_streams
    from placed_transaction

),

-- Without a transaction block the next transaction tells where this one was committed (S15), unless
-- its changes do.
followed_transaction as (

    select
        *,
        case
            -- A truncate of MySQL has no END (S8), and one of MariaDB may have a BEGIN.
            when is_whole_transaction then coalesce(end_position, position_without_end)
            -- It holds all that follows the cut.
            when has_known_offset
                then concat(split_part(starting_position, '+', 1), '+', last_event_position)
            else end_position
        end as commit_position,
        case
            when names_predecessor and has_overlapping_streams then null
            when names_predecessor
                then
                    coalesce(
                        -- Nothing of a transaction lies behind its END, nor does the END before.
                        nullif(
                            greatest(
                                following_previous_position,
                                last_event_position,
                                previous_commit_position
                            ),
                            greatest(last_event_position, previous_commit_position)
                        ),
                        -- The next epoch names nothing of this one.
                        case
                            when
                                {{ epoch_of('last_event_position') }}
                                < max({{ epoch_of('last_event_position') }}) over (
                                    partition by source
                                )
                                then last_event_position
                        end,
                        -- Nothing follows it, and all of it has landed.
                        case
                            when
                                {{ var('landing_reaches_the_end') }}
                                and following_previous_position is null
                                then
                                    concat(
                                        greatest(last_event_position, previous_commit_position),
                                        '+end'
                                    )
                        end
                    )
            else coalesce(position_without_end, change_position, last_event_position)
        end as uncounted_position
    from streamed_transaction

),

known_transaction as (

    select
        followed.*,
        -- Nothing says that CDL sends transactions in the order of their positions (S22).
        case
            when not followed.is_uncounted then 'counted'
            when followed.connector = 'cdl' and not followed.is_watermark_source then 'none'
            else 'watermark'
        end as proof,
        operator_decision.decision,
        operator_decision.sentence as decision_sentence,
        {{ is_ordered_by_offset('followed', var('watermark_sources')) }}
        and sent.partition_count > 1 as has_several_partitions,
        coalesce(
            followed.first_event_position, followed.following_event_position
        ) as reached_position,
        coalesce(
            case
                when followed.is_uncounted then followed.uncounted_position
                else followed.commit_position
            end,
            case
                when
                    operator_decision.decision in ('release', 'discard')
                    -- An END without position holds what follows it.
                    or (followed.has_end and followed.names_predecessor)
                    or followed.following_previous_position
                    in ('', followed.previous_commit_position)
                    -- It follows what it names, whose position no later commit has.
                    then coalesce(
                        followed.uncounted_position,
                        concat(
                            followed.previous_commit_position, '+', followed.last_event_position
                        ),
                        concat(followed.last_event_position, '+')
                    )
            end
        ) as known_position
    from followed_transaction as followed
    left join {{ ref('int_partition_count') }} as sent
        on followed.source = sent.source
    left join operator_decision
        on
            followed.source = operator_decision.source
            and followed.transaction_id = operator_decision.transaction_id

),

ranked_transaction as (

    select
        *,
        -- A truncate has no END: it stands behind those of its log, if all of them have a place.
        is_whole_transaction
        and (
            coalesce(
                bool_or(received_count > 0 and not is_uncounted and known_position is null) over (
                    partition by source, split_part(log_position, '#', 1)
                    order by log_position
                    rows between unbounded preceding and 1 preceding
                ),
                false
            )
            or (
                startswith(log_position, 'file#')
                and bool_or(not startswith(log_position, 'file#')) over (partition by source)
                -- GTIDs may have come later.
                and coalesce(
                    not bool_or(has_end and not is_whole_transaction) over (
                        partition by source, split_part(log_position, '#', 1)
                        order by log_position
                        rows between unbounded preceding and 1 preceding
                    ),
                    true
                )
            )
        ) as has_no_known_place
    from known_transaction

)

select
    -- identity
    known.source,
    known.transaction_id,

    -- position
    known.previous_commit_position,
    known.log_position,
    known.last_event_position,
    known.preceding_event_position,
    known.reached_position,
    known.committed_at,

    -- counts
    known.event_count,
    known.received_count,

    -- what it is
    known.names_predecessor,
    known.is_whole_transaction,
    known.has_next_marker,
    known.is_uncounted,
    known.has_window_close,

    -- proof
    known.proof,
    known.decision,
    known.decision_sentence,

    -- Offsets of several partitions tell no order, but two places.
    case
        when known.has_several_partitions
            then concat(known.known_position, '/', known.transaction_id)
        else known.known_position
    end as commit_position,
    -- If PostgreSQL's slot was lost, a released or discarded transaction never gets an END, and
    -- nothing shows what follows it.
    case
        when
            known.decision in ('release', 'discard')
            and not known.has_end
            and known.names_predecessor
            then array(named_struct(
                'transaction_id', known.transaction_id,
                'topic', cast(null as string),
                'offset', cast(null as bigint),
                'known_from', cast(null as bigint)
            ))
        else known.end_markers
    end as end_markers,
    -- Without a position of its own it follows what was committed before it.
    coalesce(
        known.known_position,
        known.change_position,
        known.position_without_end,
        greatest(known.previous_commit_position, known.last_event_position)
    ) as log_order,
    -- Only END says how many there are.
    case
        when known.has_end and not known.is_uncounted then known.miscounted_tables else array()
    end as miscounted_tables,
    -- Numbers that a restart began again are in no order: the places of its changes are (S13).
    coalesce(
        known.is_uncounted or known.is_long or not known.has_one_order, false
    ) as has_reset_counters,
    case
        when known.has_several_partitions then 'several_partitions'
        when known.has_known_offset then 'topic_made_again'
        when known.has_no_known_place then 'no_commit_position'
        when known.is_uncounted then null
        -- Another transaction has begun since.
        when not known.has_end and known.end_position is not null then 'end_not_sent'
        when not known.has_end then null
        when known.commit_position is null
            then
                case
                    when known.has_no_order then 'unordered_partitions'
                    -- It stands behind what it names, only to hold what follows.
                    when known.is_whole_transaction or known.known_position is not null
                        then 'no_commit_position'
                end
        when known.has_unknown_place then 'unplaced_truncate'
    end as unplaced_reason
from ranked_transaction as known
left anti join {{ ref('int_replayed_transaction') }} as replayed
    -- With changes that have a place it is another, which has been given the id again.
    on
        known.source = replayed.source
        and known.transaction_id = replayed.transaction_id
        and known.last_event_position is null
-- Only END tells the position, so that BEGIN and the counts of a published transaction go with it.
where coalesce(known.known_position > known.starting_position, true)
