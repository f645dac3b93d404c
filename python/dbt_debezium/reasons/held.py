"""Why a transaction or a snapshot is held.

The sentence: `shop: transaction 702 is held: <meaning> (<name>); <remedy>`.
"""

from typing import Final

from dbt_debezium.reasons.reason import Reason, by_name

HELD: Final = by_name(
    [
        Reason(
            "no_end",
            "S13",
            "its END has not landed",
            "{land} the transaction topic to its end, by default {source}.transaction",
            "{land} the transaction topic to its end too, by default {source}.transaction; "
            "a transaction that is still open ends later",
        ),
        Reason(
            "end_never_sent",
            "S13",
            "another transaction has begun since its BEGIN, so its END never comes; MariaDB's "
            "connector sends none for XA PREPARE",
            "decide release in seeds/operator_decision.csv if the database committed it, else "
            "discard",
            "take a new initial snapshot; a project can decide about it",
        ),
        Reason(
            "missing_events",
            "S13",
            "{received} of {expected} changes of {table} have landed",
            "{land} the topic of {table} to its end; "
            "what Kafka no longer has comes back only with a new initial snapshot",
            cases={
                "no_table": Reason(
                    "missing_events",
                    "S13",
                    "END counts more changes than have landed",
                    "{land} the topics of its tables to their end",
                ),
                "nothing_landed": Reason(
                    "missing_events",
                    "S13",
                    "nothing of {table} has landed, of which END counts {expected}",
                    "{land} its topic too, or {leave_out} if it never lands",
                ),
                "lacking": Reason(
                    "missing_events",
                    "S13",
                    "{received} of {expected} changes of {table}: {lacking}",
                    "{land} what is missing of that topic; what retention or compaction has "
                    "removed comes back only with a new initial snapshot",
                ),
                "passed": Reason(
                    "missing_events",
                    "S13",
                    "{received} of {expected} changes of {table} have landed, and every partition "
                    "of its topic is past it, so something took the others out",
                    "take off transforms that drop changes, and take a new initial snapshot, or "
                    "list {source} in watermark_sources if they are dropped on purpose",
                    "take off transforms that drop changes, and take a new initial snapshot",
                ),
            },
        ),
        Reason(
            "too_many_events",
            "S13",
            "{received} changes of {table} have landed, and END counts {expected}",
            "give each connector a topic.prefix of its own, and take a new initial snapshot",
            cases={
                "no_table": Reason(
                    "too_many_events",
                    "S13",
                    "more changes have landed than END counts",
                    "give each connector a topic.prefix of its own, and take a new initial "
                    "snapshot",
                ),
            },
        ),
        Reason(
            "contradicting_events",
            "S13",
            "copies of one change differ, or the numbers of its changes are not 1, 2, 3",
            "{land} only what the connector wrote, or take a new initial snapshot",
        ),
        Reason(
            "incomplete_key_change",
            "S9",
            "a row of {table} left its key and arrived under no other one, or the reverse",
            "{land} every partition of the topic of {table}; "
            "what Kafka no longer has comes back only with a new initial snapshot",
            cases={
                "lacking": Reason(
                    "incomplete_key_change",
                    "S9",
                    "a row of {table} left its key and arrived under no other one, or the reverse: "
                    "{lacking}",
                    "{land} what is missing of that topic; what Kafka no longer has comes back "
                    "only with a new initial snapshot",
                ),
            },
        ),
        Reason(
            "no_commit_position",
            "S2",
            "its END has no position, so its place among the others is not known",
            "{land} the topics of its tables; if they have landed, upgrade a connector older than "
            "Debezium 2.0 and take a new initial snapshot",
        ),
        Reason(
            "unplaced_truncate",
            "S8",
            "it is a TRUNCATE or DDL without BEGIN, and nothing tells its place: numbers of "
            "several logs, as of several gtid_domain_id, do not, nor one that lands too late",
            "run dbt-debezium run --full-refresh, which takes in what landed too late, or take a "
            "new initial snapshot, and truncate in the domain of all other transactions",
            "take a new initial snapshot, and truncate in the domain of all other transactions",
        ),
        Reason(
            "transaction_topic_recreated",
            "S2",
            "its END has an offset that another END had, so the transaction topic was recreated",
            "set DBT_DEBEZIUM_LAKE to a new folder, and land the topics from a new initial "
            "snapshot on",
            "{land} only what was sent since the transaction topic was recreated",
        ),
        Reason(
            "missing_predecessor",
            "S14",
            "nothing that has landed shows which transaction it follows",
            "{land} the topics from their beginning; if retention or compaction has removed it, "
            "take a new initial snapshot, or decide new_epoch in seeds/operator_decision.csv",
            "{complete}, or {land} the topics from their beginning; if retention or compaction has "
            "removed it, take a new initial snapshot; after a move to another server, {land} only "
            "what that one has sent",
        ),
        Reason(
            "partition_behind",
            "S14",
            "a partition of the transaction topic has not reached it, and may hold the transaction "
            "before it",
            "{complete}, or wait for a later transaction in each partition",
            "{complete}, or {land} again after a later transaction in each partition",
        ),
        Reason(
            "unordered_partitions",
            "S2",
            "the transaction topic has several partitions, and ids of two logs tell no order",
            "give the topic one partition, and begin a new lake with a new initial snapshot",
            "give the topic one partition, and take a new initial snapshot",
        ),
        Reason(
            "snapshot_incomplete",
            "S4",
            "reads of it may be missing: none is marked last, or an offset or partition has not "
            "landed",
            "{land} every partition of the captured tables from offset 0, or {complete}; "
            "from Kafka, wait quiet_partition_seconds first; what retention or compaction has "
            "removed comes back only with a new initial snapshot",
            "{complete}, or {land} every partition of the captured tables from offset 0; what "
            "retention or compaction has removed comes back only with a new initial snapshot",
            cases={
                "some_landed": Reason(
                    "snapshot_incomplete",
                    "S4",
                    "reads of {table} may be missing: none is marked last, or an offset or "
                    "partition has not landed",
                    "{land} every partition of its topic from offset 0, or {complete}; what "
                    "retention or compaction has removed comes back only with a new initial "
                    "snapshot",
                    "{complete}, or {land} every partition of its topic from offset 0; what "
                    "retention or compaction has removed comes back only with a new initial "
                    "snapshot",
                ),
                "lacking": Reason(
                    "snapshot_incomplete",
                    "S4",
                    "reads of {table} may be missing: {lacking}",
                    "{land} every partition of its topic from offset 0, or {complete}; what "
                    "retention or compaction has removed comes back only with a new initial "
                    "snapshot",
                    "{complete}, or {land} every partition of its topic from offset 0; what "
                    "retention or compaction has removed comes back only with a new initial "
                    "snapshot",
                ),
                "nothing_landed": Reason(
                    "snapshot_incomplete",
                    "S4",
                    "nothing of {table} has landed, of which END counts changes",
                    "{land} its topic too, or {leave_out} if it never lands",
                ),
                "transaction": Reason(
                    "snapshot_incomplete",
                    "S7",
                    "it asks for a blocking snapshot, of which no read has landed",
                    "{land} the topics of the tables that it names; if they are empty or the "
                    "connector ignored it, decide release in seeds/operator_decision.csv",
                    "{land} the topics of the tables that it names",
                ),
            },
        ),
        Reason(
            "late_snapshot",
            "S17",
            "it was read before a commit that is published, and landed after it",
            "run dbt-debezium run --full-refresh, which takes it in at its place; if the source "
            "was restored, decide new_epoch in seeds/operator_decision.csv, or take a new initial "
            "snapshot",
            "{land} it before what follows it",
        ),
        Reason(
            "snapshot_unconfirmed",
            "S4",
            "nothing shows that the snapshot has no more rows",
            "{complete}, or wait: for a later change in each partition, or from Kafka for "
            "quiet_partition_seconds",
            "{complete}, or {land} again after a later change in each partition",
            cases={
                "transaction": Reason(
                    "snapshot_unconfirmed",
                    "S6",
                    "nothing shows that the window of a snapshot has no more rows",
                    "{complete}, or wait: for a later change in each partition, or from Kafka for "
                    "quiet_partition_seconds",
                    "{complete}, or {land} again after a later change in each partition",
                ),
            },
        ),
        Reason(
            "missing_signal",
            "S7",
            "the transaction that asked for it has not landed",
            "{land} every partition of its topics from their beginning, those of the signal table "
            "and of the transaction topic too",
        ),
        Reason(
            "missing_row",
            "S12",
            "it takes a row that {table}, which has no key, does not hold",
            "list columns that tell its rows apart and never change in identity of its history "
            "model; or take a new initial snapshot, which replaces the tables, or decide discard "
            "in seeds/operator_decision.csv",
            "name columns that tell its rows apart and never change with --identity, or take a new "
            "initial snapshot, which replaces the tables",
            cases={
                "no_table": Reason(
                    "missing_row",
                    "S12",
                    "it takes a row that a table without a key does not hold",
                    "take a new initial snapshot, which replaces the tables, or decide discard in "
                    "seeds/operator_decision.csv",
                    "take a new initial snapshot, which replaces the tables",
                ),
                "old_values": Reason(
                    "missing_row",
                    "S12",
                    "it takes a row of {table}, which has no key, and large values of the old row "
                    "were not sent",
                    "set binlog_row_image=FULL at a server of MySQL or MariaDB, or give the table "
                    "a key, and then take a new initial snapshot; or list columns that tell its "
                    "rows apart and never change in identity of its history model",
                    "set binlog_row_image=FULL at a server of MySQL or MariaDB, or give the table "
                    "a key, and then take a new initial snapshot; or name columns that tell its "
                    "rows apart and never change with --identity",
                ),
            },
        ),
        Reason(
            "row_without_identity",
            "S12",
            "it has a row of {table} without its key, or without a value in a column of identity",
            "list in identity of its history model columns that every row and every delete has, "
            "or set is_keyless; the next run tries again; or decide discard in "
            "seeds/operator_decision.csv",
            "name columns that every row and every delete has with --identity",
            cases={
                "no_table": Reason(
                    "row_without_identity",
                    "S12",
                    "it has a row without its key, or without a value in a column of identity",
                    "decide discard in seeds/operator_decision.csv",
                    "name columns that every row and every delete has with --identity",
                ),
            },
        ),
        Reason(
            "other_key",
            "S12",
            "it has rows of {table} under another key than those before it",
            "list in identity of its history model columns that every row has under both keys, "
            "or set schema_changes to ignore there; the next run tries again",
            "name columns that every row has under both keys with --identity",
            cases={
                "no_table": Reason(
                    "other_key",
                    "S12",
                    "it has rows under another key than those before it",
                    "decide discard in seeds/operator_decision.csv",
                    "name columns that every row has under both keys with --identity",
                ),
            },
        ),
        Reason(
            "shared_topic_prefix",
            "S13",
            "two ENDs of it count different tables, so two connectors have one topic.prefix",
            "{complete}, or give each connector a topic.prefix of its own, and take a new initial "
            "snapshot",
        ),
        Reason(
            "unproven_restart",
            "S13",
            "the connector restarted inside it and counted from 1 again, so a change may be "
            "missing",
            "{complete}, or wait for a later change in each partition",
            "{complete}, or {land} again after a later change in each partition",
        ),
        Reason(
            "awaiting_watermark",
            "S15",
            "without transaction metadata it waits for a later change in each partition",
            "{complete}, or set provide.transaction.metadata=true at the connector",
        ),
        Reason(
            "transaction_end_unknown",
            "S15",
            "its changes have neither a GTID nor transaction metadata, so nothing shows where a "
            "transaction ends",
            "{complete}, or set provide.transaction.metadata=true at the connector",
        ),
        Reason(
            "no_transaction",
            "S13",
            "their transaction has not landed, or the changes do not name one",
            "{land} every topic of {source} to its end; if that changes nothing, the connector "
            "sends changes without position, and only a new initial snapshot brings them",
        ),
        Reason(
            "not_judged",
            "S14",
            "the run could not judge their source, and says why",
            "do what that sentence asks, and run again",
        ),
        Reason(
            "several_partitions",
            "S22",
            "its source is said to have one partition, and its changes are in several",
            "have the job write one topic with one partition, or take {source} out of "
            "watermark_sources",
            "have the job write one topic with one partition",
        ),
        Reason(
            "unaccounted_gtid",
            "S8",
            "a TRUNCATE may be missing before it, because a GTID in between has not landed",
            "{land} the schema-change topic {source} too, or list {source} in "
            "sources_without_truncate of dbt_project.yml if it never sends a TRUNCATE",
            "{land} the schema-change topic {source} too, or {complete}",
        ),
        Reason(
            "refused_proof",
            "S15",
            "its changes are not counted, and only counted ones are accepted",
            "set provide.transaction.metadata=true at the connector, or take the proof out of "
            "refused_proofs",
            "set provide.transaction.metadata=true at the connector",
        ),
        Reason(
            "quarantined_event",
            "S13",
            "a message of {table} is quarantined, which may be its missing change",
            "mend that message as its own sentence says, and {land} it again",
        ),
        Reason(
            "follows_held_transaction",
            "S14",
            "it is complete and waits for the transaction before it",
            "",
        ),
        Reason(
            "follows_held_snapshot",
            "S4",
            "it is complete and waits for a snapshot",
            "",
        ),
    ]
)
"""By name."""
