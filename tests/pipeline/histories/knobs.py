"""What makes histories differ: which features one has, and how often."""

from dataclasses import dataclass, fields, replace
from random import Random
from typing import Final

from histories.plan import ConnectorName, SecondBegin


@dataclass(frozen=True, slots=True)
class Knobs:
    """Of one history. A chance is between 0 and 1; of an action it is its weight."""

    connector: ConnectorName = "postgresql"

    # how much
    transaction_count: int = 8
    actions_per_transaction: int = 2
    concurrency: int = 2
    """Most transactions that are open at once."""
    landing_count: int = 4

    # what transactions do; transfers and new accounts are always there
    copy: float = 0.0
    key_change: float = 0.0
    key_chain: float = 0.0
    key_swap: float = 0.0
    reinsert: float = 0.0
    truncate: float = 0.0
    truncate_many: float = 0.0
    bag: float = 0.0
    pair: float = 0.0
    toast: float = 0.0
    """Chance that a text is long enough to be left out when it has not changed."""
    audit: float = 0.0
    """Changes of a table that does not land."""
    nothing_changed: float = 0.0
    message: float = 0.0
    """Messages inside transactions."""
    empty: float = 0.0
    """Chance that a transaction touches no captured table."""
    rollback: float = 0.0
    loose_message: float = 0.0
    """Chance of a message outside of transactions, or of DDL in MySQL, after each of them."""
    truncate_alone: float = 0.0
    """Chance of a truncate that is a transaction of its own, after each of them."""

    # snapshots
    snapshot: float = 0.0
    interrupted_snapshot: float = 0.0
    later_epoch: float = 0.0
    window: float = 0.0
    """Chance of an incremental snapshot's window, after each transaction."""
    last_touch: float = 0.6
    """Chance that the end of an epoch changes something in every partition."""

    # the connector
    restart: float = 0.0
    """Chance of a restart, after each message."""
    reset_counters: float = 0.0
    """Chance that the connector is older than 3.6.1, and forgets counts in a restart."""
    repeat_marker: float = 0.0
    shuffled_lsns: float = 0.0
    """Chance that the LSNs of a transaction's changes are not in their order."""
    last_end: float = 1.0
    """Chance that the last transaction is ended, which others do by following it."""
    other_database: float = 0.0
    """Chance of a transaction of another database, before each message."""
    lost_metadata: float = 0.0
    """Chance that there are no transaction blocks, BEGIN and END."""
    begin_anew: float = 0.0
    """Chance that a stream ends anywhere, and another begins that no snapshot stands before."""
    named_change: float = 0.0
    """Chance that a restart inside an epoch's first transaction has the rest of it name a change
    of its own."""
    begin_again: float = 0.0
    """Chance that a connector which restarts inside a transaction sends its BEGIN again."""

    # MySQL's binary log
    gtid: float = 0.0
    """Chance that transactions have GTIDs."""
    hidden_number: float = 0.0
    """Chance that something of which nothing is sent takes a GTID, before each transaction."""
    rollover: float = 0.0
    """Chance that a file of the log ends, before each transaction."""
    long_file_number: float = 0.0
    """Chance that files are about to have seven digits."""

    # Huawei CDL
    one_partition: float = 0.0
    """Chance that all tables share one partition, as the configuration says."""
    first_version: float = 0.0
    """Chance that there are messages of CDL 1.0."""
    second_version: float = 1.0
    """Chance that those are not all."""

    # what else lands
    heartbeat: float = 0.0
    garbage: float = 0.0
    """Chance of a message that cannot be read, after each message."""
    garbage_in_reads: float = 0.0
    """Chance that garbage may stand where reads of a snapshot stand."""
    garbage_event: float = 0.0
    """Chance that one message of the history is replaced by garbage."""
    stray_tombstone: float = 0.0
    """Chance that a tombstone without a key lies in another partition than its delete."""
    redelivery: float = 0.0
    """Chance that a message lands a second time as the same delivery."""

    # Kafka and the landings
    partition_count: int = 3
    """Most partitions of a topic."""
    transaction_partition_count: int = 1
    lost_end: float = 0.0
    """Chance that the end of some partitions never lands."""


Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Profile:
    """Between which bounds each knob may stand. What is not named keeps the default."""

    bounds: dict[str, Range]
    always: frozenset[str]
    """Knobs that no history switches off."""
    second_begin: SecondBegin
    connector: ConnectorName = "postgresql"

    def draw(self, rng: Random) -> Knobs:
        """Knobs for one history. Each feature is off in a part of them, so that the others show."""
        drawn: dict[str, float] = {}
        for knob in fields(Knobs):
            if knob.name not in self.bounds:
                continue
            low, high = self.bounds[knob.name]
            if isinstance(knob.default, int):
                drawn[knob.name] = rng.randint(int(low), int(high))
            elif knob.name in self.always or rng.random() < 0.6:
                drawn[knob.name] = rng.uniform(low, high)
        return replace(Knobs(self.connector), **drawn)  # type: ignore[arg-type] # ints for ints, see above


FIRST_RULES: Final = Profile(
    {
        "transaction_count": (2, 12),
        "actions_per_transaction": (1, 3),
        "concurrency": (1, 4),
        "copy": (0.2, 1),
        "key_change": (0.2, 1),
        "key_chain": (0.2, 0.7),
        "key_swap": (0.2, 0.7),
        "reinsert": (0.2, 0.7),
        "truncate": (0.05, 0.4),
        "truncate_many": (0.05, 0.3),
        "bag": (0.5, 2),
        "pair": (0.5, 1.5),
        "audit": (0.1, 0.7),
        "nothing_changed": (0.1, 0.4),
        "message": (0.1, 0.4),
        "empty": (0.02, 0.2),
        "rollback": (0.05, 0.3),
        "snapshot": (0.6, 0.6),
        "restart": (0.01, 0.06),
        "repeat_marker": (0.02, 0.1),
        "heartbeat": (0.02, 0.1),
        "garbage": (0.005, 0.03),
        "redelivery": (0.01, 0.05),
        "partition_count": (1, 5),
        "transaction_partition_count": (1, 1),
        "lost_end": (0.3, 1),
    },
    frozenset({"snapshot"}),
    second_begin="evidence",
)
"""What the pipeline has always known."""

ALL_RULES: Final = Profile(
    FIRST_RULES.bounds
    | {
        "toast": (0.3, 1),
        "loose_message": (0.05, 0.2),
        "interrupted_snapshot": (0.1, 0.4),
        "later_epoch": (0.1, 0.5),
        "window": (0.05, 0.25),
        "reset_counters": (0.3, 0.5),
        "garbage_in_reads": (0.3, 1),
        "stray_tombstone": (0.2, 1),
        "garbage_event": (0.05, 0.3),
        "transaction_partition_count": (1, 3),
    },
    FIRST_RULES.always,
    second_begin="evidence",
)
"""All rules of PostgreSQL."""

ANEW_RULES: Final = Profile(
    {
        name: bounds
        for name, bounds in ALL_RULES.bounds.items()
        # Of equal rows of one position nothing but counters tells that they are several; and a slot
        # would send again, from the start, what a restart has counted anew.
        if name not in ("copy", "reset_counters")
    }
    | {
        "lost_metadata": (0.5, 0.5),
        "begin_anew": (0.2, 0.6),
        "named_change": (0.3, 1),
    },
    FIRST_RULES.always | {"lost_metadata"},
    second_begin="evidence",
)
"""Streams of PostgreSQL that end anywhere and begin anew, with metadata and without."""

LOG_SEQUENCE_BOUNDS: Final = {
    name: bounds
    for name, bounds in FIRST_RULES.bounds.items()
    # Neither sends a truncate, a message, or what changes nothing; each row has an LSN.
    if name not in ("copy", "truncate", "truncate_many", "nothing_changed", "message", "empty")
}

SQLSERVER_RULES: Final = Profile(
    LOG_SEQUENCE_BOUNDS
    | {"shuffled_lsns": (0.2, 1), "last_end": (0, 1), "other_database": (0.02, 0.2)},
    FIRST_RULES.always | {"last_end"},
    # It names no database, so it may be another's.
    second_begin="harmless",
    connector="sqlserver",
)
"""A snapshot, then transactions of one database among those of another."""

DB2_RULES: Final = Profile(
    LOG_SEQUENCE_BOUNDS | {"last_end": (0, 0)},
    FIRST_RULES.always | {"last_end"},
    second_begin="evidence",
    connector="db2",
)
"""A snapshot, then transactions, of which the last one has no END."""

MYSQL_RULES: Final = Profile(
    {
        name: bounds
        for name, bounds in FIRST_RULES.bounds.items()
        # A truncate is no part of a transaction, and the log has rows that changed only.
        if name not in ("truncate", "truncate_many", "nothing_changed", "message")
    }
    | {
        "truncate_alone": (0.05, 0.4),
        "loose_message": (0.05, 0.3),
        "begin_again": (0.3, 1),
        "garbage_event": (0.05, 0.3),
        "gtid": (1, 1),
        "hidden_number": (0.02, 0.3),
        "rollover": (0.05, 0.4),
        "long_file_number": (0.3, 0.6),
    },
    FIRST_RULES.always,
    second_begin="evidence",
    connector="mysql",
)
"""A snapshot, then transactions with truncates and DDL between them, with GTIDs or without."""

CDL_RULES: Final = Profile(
    {
        name: bounds
        for name, bounds in LOG_SEQUENCE_BOUNDS.items()
        # Nothing tells of a restart or of a transaction's end.
        if name not in ("snapshot", "repeat_marker")
    }
    | {
        "garbage_event": (0.05, 0.3),
        "one_partition": (1, 1),
        # Each source of 1.0 is a line of the settings.
        "first_version": (0.15, 0.15),
        "second_version": (0.5, 1),
    },
    frozenset({"one_partition", "second_version"}),
    second_begin="harmless",
    connector="cdl",
)
"""Transactions of an empty database in one partition, without anything that counts them."""

SPREAD_CDL_RULES: Final = replace(
    CDL_RULES,
    # LSNs are in the order of commits only where no two transactions are open at once.
    bounds=CDL_RULES.bounds | {"concurrency": (1, 1), "one_partition": (0, 0)},
)
"""The same in partitions of each table, so that nothing tells the order of commits."""

PROFILES: Final = {
    "first_rules": FIRST_RULES,
    "all_rules": ALL_RULES,
    "sqlserver": SQLSERVER_RULES,
    "db2": DB2_RULES,
    "mysql": MYSQL_RULES,
    "cdl": CDL_RULES,
    "spread_cdl": SPREAD_CDL_RULES,
}
"""Every profile that `law` judges, by the name that commands and tests give it."""
