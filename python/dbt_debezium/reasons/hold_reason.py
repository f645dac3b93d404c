"""The names of all reasons to hold a transaction or a snapshot: what the judge may say.

`HELD` says what each means and what to do about it, and docs/runbook.md has a section for each;
tests/test_docs.py fails where one of them lacks a name. CONTRIBUTING.md lists what a new one needs.
"""

from typing import Literal, TypeAlias

HoldReason: TypeAlias = Literal[
    "awaiting_watermark",
    "contradicting_events",
    "end_never_sent",
    "follows_held_snapshot",
    "follows_held_transaction",
    "incomplete_key_change",
    "late_snapshot",
    "missing_events",
    "missing_predecessor",
    "missing_row",
    "missing_signal",
    "no_commit_position",
    "no_end",
    "no_transaction",
    "not_judged",
    "other_key",
    "partition_behind",
    "quarantined_event",
    "refused_proof",
    "row_without_identity",
    "several_partitions",
    "shared_topic_prefix",
    "snapshot_incomplete",
    "snapshot_unconfirmed",
    "too_many_events",
    "transaction_end_unknown",
    "transaction_topic_recreated",
    "unaccounted_gtid",
    "unordered_partitions",
    "unplaced_truncate",
    "unproven_restart",
]
