"""What a run knows of a source beside its messages and its state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from dbt_debezium.evidence.facts import TopicPartition
from dbt_debezium.evidence.state import State
from dbt_debezium.evidence.topics import Topic
from dbt_debezium.judge.decisions import settles
from dbt_debezium.judge.marks import Decision, Range
from dbt_debezium.reasons.hold_reason import HoldReason


class Look(NamedTuple):
    """What a landing has found at the end of a partition."""

    end_offset: int
    """After the last message that the cluster had."""
    looked_at: int
    """In microseconds."""
    is_sure_end: bool = True
    """Whether nothing before it was still to come (decision 20)."""


@dataclass(frozen=True)
class Settings:
    """Of a project, as far as they are about this source."""

    reaches_the_end: bool = False
    """`landing_reaches_the_end`, or `--complete`."""
    sends_no_truncates: bool = False
    """Whether `sources_without_truncate` lists the source."""
    is_watermark: bool = False
    """Whether `watermark_sources` lists it: its transactions are complete where all partitions have
    passed them, whatever END counts. One partition has changes of CDL in the order of commits."""
    refused_proofs: tuple[str, ...] = ()
    quiet_micros: int = 0
    """`quiet_partition_seconds` in microseconds; 0 for never."""
    not_ingested: tuple[str, ...] = ()
    """Patterns of tables that END counts and that never land, by `not_ingested_tables`."""


@dataclass(frozen=True)
class Known:
    """All of it. The default is nothing."""

    source: str
    settings: Settings = Settings()
    decisions: Sequence[Decision] = ()
    """The latest one on each transaction and snapshot."""
    settled: Mapping[str, str | None] = field(default_factory=dict)
    """From `settled_unit`, by id: where each settled transaction stands that is the
    `transaction_id` of a row, whatever its kind."""
    settled_times: Mapping[str, int] = field(default_factory=dict)
    """When those were committed, in microseconds, as far as their ENDs said it."""
    settled_snapshots: frozenset[str] = frozenset()
    """Likewise the places of reads among the rows whose snapshot has a verdict."""
    failed: Mapping[str, HoldReason] = field(default_factory=dict)
    """Transactions and snapshots that an earlier run has failed on, and why they wait (S12). They
    are called as `status` calls them."""
    topics: Mapping[str, Topic] = field(default_factory=dict)
    """What each topic holds; of others their names tell."""
    looks: Mapping[TopicPartition, Look] = field(default_factory=dict)
    """Of each partition the latest look at its end, also of those of which nothing has landed."""
    fetched: Sequence[Range] = ()
    """Offsets that landings of this run have read from topics that nothing compacts. One without a
    message is that of a control record of Kafka, or of a transaction that it aborted (S18)."""
    earlier: Sequence[State] = ()
    """Of sources whose topics are this one's now: they know what has landed of those."""

    @cached_property
    def decided(self) -> frozenset[str]:
        """Transactions that operators have released or discarded."""
        some = (one.transaction_id for one in self.decisions if settles(one.decision))
        return frozenset(one for one in some if one is not None)
