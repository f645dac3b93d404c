"""The names of all reasons to hold a transaction or a snapshot: what the judge may say.

`HELD` says what each means and what to do about it; docs/runbook.md has a section for each, and
each has a scenario in tests/judge/scenarios. A test fails where one of them lacks a name.
"""

from typing import Literal, TypeAlias

HoldReason: TypeAlias = Literal[
    "above_low_water",
    "contradicting_events",
    "end_not_sent",
    "follows_held_snapshot",
    "follows_held_transaction",
    "key_change_torn",
    "late_snapshot",
    "missing_events",
    "missing_predecessor",
    "missing_reads",
    "missing_row",
    "missing_signal",
    "no_boundary",
    "no_commit_position",
    "no_end",
    "no_transaction",
    "not_judged",
    "partition_behind",
    "quarantined_event",
    "refused_proof",
    "several_partitions",
    "shared_topic_prefix",
    "too_many_events",
    "topic_made_again",
    "unaccounted_gtid",
    "unordered_partitions",
    "unplaced_truncate",
    "unproven_reads",
    "unproven_restart",
]
