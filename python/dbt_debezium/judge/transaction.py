"""Is a transaction whole? (S13)"""

from itertools import groupby
from operator import attrgetter

from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.marks import Counted, Uncounted
from dbt_debezium.judge.places import NOWHERE, PAST_ALL, Span
from dbt_debezium.judge.restart import is_renumbered, is_whole_by_overlap
from dbt_debezium.judge.traits import Traits
from dbt_debezium.reasons.hold_reason import HoldReason


def counted_hold_reason(
    transaction: Counted, traits: Traits, evidence: Evidence
) -> HoldReason | None:
    """Why it cannot be published by itself; None where every change of it has landed.

    Args:
        transaction: with what has landed of it.
        traits: of the connector.
        evidence: of its source.
    """
    tables = transaction.tables
    if transaction.misplacement is not None:
        return transaction.misplacement
    if not transaction.has_end:
        return "no_end"
    if transaction.position is None:
        return "no_commit_position"
    if any(table.received_count < table.expected_count for table in tables):
        return "missing_events"
    # Two connectors end it: a restart counts no table that the whole does not.
    is_counted_apart = any(table.is_counted_apart for table in tables)
    if has_every_number(transaction) and not has_surplus(transaction):
        must_be_seen = transaction.begins_again
    elif _is_whole_by_overlap(transaction):
        must_be_seen = False
    elif _is_renumbered_by_table(transaction):
        must_be_seen = True
    elif is_counted_apart:
        return "shared_topic_prefix"
    else:
        return "too_many_events" if has_surplus(transaction) else "contradicting_events"
    if must_be_seen and not _is_seen_whole(transaction, traits, evidence):
        return "shared_topic_prefix" if is_counted_apart else "unproven_restart"
    # A row that leaves its key arrives under another one in the same transaction (S9).
    left = sum(table.key_leave_count for table in tables)
    entered = sum(table.key_enter_count for table in tables)
    return None if left == entered else "incomplete_key_change"


def has_surplus(transaction: Counted) -> bool:
    """Whether more changes of a table have landed than END counts."""
    return any(table.received_count > table.expected_count for table in transaction.tables)


def has_every_number(transaction: Counted) -> bool:
    """Whether its numbers are those that END and each other demand."""
    is_regular = all(table.has_every_number and table.copies_agree for table in transaction.tables)
    return is_regular and transaction.has_true_sum and transaction.has_one_order


def has_changes(transaction: Counted | Uncounted) -> bool:
    """Whether a change of it has landed."""
    return isinstance(transaction, Uncounted) or any(
        table.received_count for table in transaction.tables
    )


def linking_offsets(transaction: Counted, traits: Traits) -> tuple[int, ...]:
    """Offsets of its ENDs; of the first alone, where that is its place."""
    return transaction.end_offsets[:1] if traits.is_ordered_by_end else transaction.end_offsets


def span_of(transaction: Counted | Uncounted, traits: Traits) -> Span:
    """Where its changes stand. Its position must be known."""
    position = transaction.position
    assert position is not None
    if isinstance(transaction, Uncounted):
        return Span(transaction.compared_place, position)
    following = transaction.following_place
    match traits.change_place:
        case "predecessor" if has_changes(transaction):
            return Span(transaction.previous_position or NOWHERE, position)
        case "predecessor":
            return Span(position, position)
        case "commit":
            return Span(position if has_changes(transaction) else PAST_ALL, position)
        case "change" if has_changes(transaction):
            first = transaction.first_change or following
            return Span(first, transaction.last_place or PAST_ALL, following)
        case "change":
            return Span(PAST_ALL, PAST_ALL, following)


def _is_seen_whole(transaction: Counted, traits: Traits, evidence: Evidence) -> bool:
    """Whether everything that was sent of it has landed and can be read."""
    span = span_of(transaction, traits)
    return evidence.partitions.are_past(span) and not evidence.unread.may_be_of(span)


def _is_whole_by_overlap(transaction: Counted) -> bool:
    orders = [one.total_orders for one in transaction.events]
    return _can_be_ranked(transaction) and is_whole_by_overlap(orders, transaction.event_count)


def _is_renumbered_by_table(transaction: Counted) -> bool:
    """Whether the numbers of each table fit; what is missing between them leaves no trace."""
    by_name = attrgetter("data_collection")
    by_table = {
        name: [one.table_orders for one in events]
        for name, events in groupby(sorted(transaction.events, key=by_name), key=by_name)
    }
    return _can_be_ranked(transaction) and all(
        is_renumbered(by_table.get(table.data_collection, []), table.least_expected_count)
        for table in transaction.tables
    )


def _can_be_ranked(transaction: Counted) -> bool:
    return bool(transaction.events) and all(
        one.has_one_content and one.has_place for one in transaction.events
    )
