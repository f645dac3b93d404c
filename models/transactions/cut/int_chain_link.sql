with

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

log_island as (

    select * from {{ ref('int_log_island') }}

),

low_water as (

    select * from {{ ref('int_low_water') }}

),

incremental_window as (

    select
        source,
        previous_commit_position
    from {{ ref('stg_change_event') }}
    where snapshot = 'incremental' and connector = 'postgresql' and not is_already_published
    group by source, previous_commit_position

),

-- Reads of other connectors name the commit that closes their window.
unplaced_window as (

    select source
    from {{ ref('stg_change_event') }}
    where
        snapshot = 'incremental'
        and {{ ordered_by_end('connector') }}
        and not is_already_published
    group by source

),

unanswered_signal as (

    select * from {{ ref('int_unanswered_signal') }}

),

-- A keyless table was to lose a row that it does not hold: an earlier run has failed on it (S12).
contradiction as (

    select
        source,
        transaction_id
    from {{ source('pointer', 'contradiction') }}
    group by source, transaction_id

),

ordered_link as (

    select * from {{ ref('int_chain') }}

),

preceded_link as (

    select
        ordered_link.*,
        split_part(ordered_link.log_position, '#', 1) as log,
        split_part(ordered_link.log_position, '#', 2) as log_number,
        coalesce(
            split_part(ordered_link.predecessor_log_position, '#', 2),
            starting_commit.log_positions[split_part(ordered_link.log_position, '#', 1)]
        ) as predecessor_log_number,
        greatest(
            ordered_link.predecessor_event_position,
            starting_commit.log_positions['place'],
            starting_commit.snapshot_position
        ) as known_event_position,
        coalesce(ordered_link.predecessor_end_markers, starting_end.end_markers)
            as known_predecessor_end_markers,
        -- A truncate of MySQL has no END: no marker is missing before the next one.
        case
            when ordered_link.is_whole_transaction then ordered_link.following_end_markers
            else ordered_link.end_markers
        end as next_end_markers,
        case
            when ordered_link.predecessor.link_kind = 'initial_snapshot' then null
            -- An epoch opens a new stream, and so does a source that stands at a snapshot.
            when
                {{ epoch_of('ordered_link.position') }} != coalesce(
                    {{ epoch_of('ordered_link.predecessor.position') }},
                    {{ epoch_of('starting_commit.link_position') }}
                )
                then null
            when ordered_link.predecessor is not null then ordered_link.predecessor.position
            when starting_commit.link_position is distinct from starting_commit.snapshot_position
                then starting_commit.link_position
        end as predecessor_position,
        case
            when ordered_link.predecessor.link_kind = 'initial_snapshot'
                then ordered_link.predecessor.position
            when ordered_link.predecessor is null then starting_commit.snapshot_position
        end as base_position
    from ordered_link
    left join starting_commit
        on ordered_link.source = starting_commit.source
    left join {{ ref('int_end_marker') }} as starting_end
        on
            ordered_link.source = starting_end.source
            and starting_commit.end_markers[0].transaction_id = starting_end.transaction_id

),

-- After a restart END may come twice; either may follow either END of the one before (S14).
counted_link as (

    select
        *,
        exists(
            next_end_markers,
            next -> case
                -- All partitions of its topic show that none is missing before it.
                when next.known_from = -1 then true
                when known_predecessor_end_markers is null then next.known_from = 0
                else exists(
                    known_predecessor_end_markers,
                    before -> before.topic = next.topic
                    and before.`offset` < next.`offset`
                    and before.`offset` >= next.known_from - 1
                )
            end
        ) as has_every_marker
    from preceded_link

),

linked_link as (

    select
        preceded.*,
        incremental_window.source is not null or preceded.has_window_close as has_window,
        coalesce(
            case
                when preceded.link_kind in ('initial_snapshot', 'blocking_snapshot') then true
                -- The first that nothing counts can follow one that sends nothing. Nothing that has
                -- landed may stand between it and the snapshot.
                when
                    preceded.is_uncounted
                    and preceded.names_predecessor
                    and preceded.predecessor_position is null
                    and not preceded.follows_message
                    then
                        coalesce(
                            preceded.preceding_event_position <= preceded.base_position,
                            preceded.preceding_event_position is null
                        )
                        and coalesce(
                            {{ epoch_of('preceded.previous_commit_position') }}
                            = {{ epoch_of('preceded.base_position') }}
                            and preceded.previous_commit_position >= preceded.base_position,
                            preceded.previous_commit_position is null
                        )
                when preceded.previous_commit_position is not null
                    then
                        preceded.previous_commit_position
                        = coalesce(preceded.predecessor_position, preceded.base_position)
                        -- The end of the one before was not known, because nothing followed it.
                        or coalesce(
                            endswith(preceded.predecessor_position, '+end')
                            and preceded.previous_commit_position > preceded.predecessor_position,
                            false
                        )
                        -- A message that names itself does not say what it follows.
                        or (
                            preceded.follows_message
                            and (preceded.is_uncounted or preceded.has_every_marker)
                        )
                -- Events that name no predecessor open a stream. Without events the markers must
                -- be contiguous.
                when
                    preceded.link_kind = 'logical_message'
                    or (
                        preceded.received_count > 0
                        and preceded.names_predecessor
                        -- Changes that name nothing at all have no position either.
                        and preceded.last_event_position is not null
                    )
                    then preceded.predecessor_position is null
                -- Nothing counts it, so what is taken is what all partitions have passed (S15).
                when preceded.is_uncounted then true
                -- Without END, its number or the next transaction shows that none is missing.
                when preceded.is_whole_transaction
                    then
                        {{ var('landing_reaches_the_end') }}
                        -- Behind a BEGIN alone its END may be missing.
                        or coalesce(
                            (preceded.received_count > 0 or preceded.has_next_marker)
                            and log_island.island = predecessor_log_island.island,
                            false
                        )
                        or preceded.has_every_marker
                else
                    preceded.has_every_marker
                    -- Its place is its number, and each one between has landed.
                    or coalesce(
                        split_part(preceded.position, '/', 2) = preceded.log_number
                        and preceded.predecessor_position is not null
                        and log_island.island = predecessor_log_island.island,
                        false
                    )
            end,
            false
        ) as is_linked,
        -- A missing number may be that of a truncate, which no END counts (S8). Places in a file
        -- have gaps anyway, so they never prove it. Oracle's END counts truncates, and positions of
        -- commits are not consecutive.
        coalesce(
            case
                when preceded.log_position is null or preceded.log in ('scn', 'commit') then true
                -- Which numbers a snapshot holds is not known, so only a log from number 1 on is.
                when preceded.predecessor_log_number is null then log_island.island = 0
                else
                    preceded.log_number <= preceded.predecessor_log_number
                    or log_island.island = predecessor_log_island.island
            end,
            false
        ) as has_every_number
    from counted_link as preceded
    left join log_island
        on
            preceded.source = log_island.source
            and preceded.log = log_island.log
            and preceded.log_number = {{ offset_position('log_island.log_number') }}
    left join log_island as predecessor_log_island
        on
            preceded.source = predecessor_log_island.source
            and preceded.log = predecessor_log_island.log
            and preceded.predecessor_log_number
            = {{ offset_position('predecessor_log_island.log_number') }}
    left join incremental_window
        on
            preceded.link_kind = 'transaction'
            and preceded.source = incremental_window.source
            and coalesce(preceded.previous_commit_position, preceded.predecessor_position)
            <=> incremental_window.previous_commit_position

)

select
    -- identity
    linked.source,
    linked.link_kind,
    linked.position,
    linked.link_order,

    -- position
    linked.transaction_id,
    linked.snapshot_position,
    coalesce(
        linked.previous_commit_position, linked.predecessor_position
    ) as predecessor_position,
    linked.predecessor_position is null as is_first_of_stream,
    linked.log_position,
    linked.last_event_position,
    linked.end_markers,
    linked.committed_at,
    linked.has_reset_counters,

    -- proof
    linked.proof,
    linked.decision,
    linked.decision_sentence,
    case
        when linked.decision in ('release', 'discard') then null
        when linked.incomplete_reason is not null then linked.incomplete_reason
        when not linked.is_linked and coalesce(linked.decision != 'new_epoch', true)
            then
                case
                    when
                        exists(
                            linked.end_markers,
                            one -> one.topic is not null and one.known_from is null
                        )
                        and not (linked.received_count > 0 and linked.names_predecessor)
                        then 'partition_behind'
                    else 'missing_predecessor'
                end
        when
            not linked.has_every_number
            -- No truncate can be missing once every partition has reached this transaction, unless
            -- an unreadable message in between may be one.
            and (
                not linked.is_reached_by_all
                or coalesce(
                    exists(
                        low_water.unreadable_spans,
                        span -> coalesce(span.after_position < linked.reached_position, true)
                        and coalesce(span.before_position > linked.known_event_position, true)
                    ),
                    false
                )
            )
            and not {{ matches_any('linked.source', var('sources_without_truncate')) }}
            then 'unaccounted_gtid'
        -- END does not count the reads of a window that closes in the transaction (S6).
        when
            linked.has_window
            and (
                linked.may_lack_a_message
                or not (
                    {{ var('landing_reaches_the_end') }}
                    or coalesce(
                        case
                            when linked.names_predecessor
                                then low_water.incremental_low_water_position >= linked.position
                            else
                                low_water.incremental_event_low_water_position
                                > linked.last_event_position
                        end,
                        false
                    )
                )
            )
            then 'unproven_reads'
        when
            linked.has_window_close
            and linked.log_position is null
            and unplaced_window.source is not null
            then 'no_commit_position'
        when unanswered.source is not null then 'missing_reads'
        -- Nothing counts the reads of a first snapshot either, and what cannot be read in front of
        -- the first change of a partition may be one.
        when
            linked.link_kind = 'transaction'
            and linked.predecessor_position is null
            and linked.base_position is null
            and coalesce(linked.decision != 'new_epoch', true)
            and coalesce(
                exists(low_water.unreadable_spans, span -> span.after_position = ''), false
            )
            then 'quarantined_event'
        when contradiction.source is not null then 'missing_row'
    end as held_reason
from linked_link as linked
left join contradiction
    on
        linked.link_kind = 'transaction'
        and linked.source = contradiction.source
        and linked.transaction_id = contradiction.transaction_id
left join unplaced_window
    on linked.source = unplaced_window.source
left join unanswered_signal as unanswered
    on
        linked.link_kind = 'transaction'
        and linked.source = unanswered.source
        and linked.transaction_id = unanswered.transaction_id
left join low_water
    on linked.source = low_water.source
