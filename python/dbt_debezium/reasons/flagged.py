"""Why a table may differ from its source although every proof holds (S5, S12, S23)."""

from typing import Final

from dbt_debezium.reasons.reason import Reason, by_name

FLAGS: Final = by_name(
    [
        Reason(
            "no_baseline",
            "S23",
            "no snapshot of it has landed, so rows from before its first change are missing",
            "{land} the snapshot, or have the table read (`dbt-debezium signal`)",
        ),
        Reason(
            "snapshot_may_be_torn",
            "S23",
            "its connector may read a snapshot after releasing the locks, so some rows can be "
            "newer than others",
            "set snapshot.isolation.mode=repeatable_read at the connector; "
            "if it is set, there is nothing to do",
        ),
        Reason(
            "snapshot_may_double_rows",
            "S23",
            "it has no key, so a row that a snapshot read and the log sent too appears twice",
            "give it a key, or message.key.columns at the connector, and take a new initial "
            "snapshot",
        ),
        Reason(
            "snapshot_not_finished",
            "S23",
            "an incremental snapshot has read rows of it, and nothing shows that it was read to "
            "the end",
            "wait for the snapshot to end, or have the table read again if it was stopped "
            "(`dbt-debezium signal`)",
        ),
        Reason(
            "deletes_may_be_missing",
            "S23",
            "rows deleted while the connector stood still stay after an incremental snapshot",
            "take a new initial snapshot if the connector stood still and lost changes",
        ),
        Reason(
            "schema_changed_in_snapshot",
            "S23",
            "its columns changed while an incremental snapshot read it, which Debezium does not "
            "support for Db2",
            "take a new initial snapshot",
        ),
        Reason(
            "not_in_latest_snapshot",
            "S5",
            "the newest snapshot has no row of it, so it is empty or no longer captured; its rows "
            "are kept",
            "if it is empty, set repeated_snapshot_missing_table: empty, and take a new initial "
            "snapshot",
            "if it is empty, the rows shown are those of the snapshot before",
        ),
        Reason(
            "append_only",
            "S12",
            "it has no key, and no change has shown an old row, so its updates and deletes may "
            "not be sent",
            "set REPLICA IDENTITY FULL on the table, and take a new initial snapshot",
        ),
        Reason(
            "identity_lost",
            "S12",
            "a delete has neither row nor key, and is quarantined",
            "set REPLICA IDENTITY FULL on the table, and take a new initial snapshot",
        ),
        Reason(
            "identity_not_in_key",
            "S12",
            "a delete has a key of zeros, which deletes no row; REPLICA IDENTITY USING INDEX on "
            "other columns than the key sends it so",
            "if the table has that, list the index's columns in identity of its history model",
            "if the table has that, set REPLICA IDENTITY DEFAULT and take a new initial snapshot",
        ),
        Reason(
            "key_not_unique",
            "S1",
            "two rows of it have one message key, so one of them takes the place of the other",
            "list the columns that tell its rows apart in identity of its history model, or set "
            "message.key.columns to unique columns and take a new initial snapshot",
            "name the columns that tell its rows apart with --identity, or set "
            "message.key.columns to unique columns and take a new initial snapshot",
        ),
        Reason(
            "repeated_names",
            "S19",
            "a message of it has two members of one name, of which the last counts",
            "mend what writes such messages, and take a new initial snapshot",
        ),
        Reason(
            "schema_default",
            "S19",
            "a column with a default was added, and no event says that older rows have it",
            "have the table read (`dbt-debezium signal`)",
        ),
        Reason(
            "column_renamed",
            "S19",
            "a column came where another went; if it was renamed, rows that have not changed "
            "since have null in it, and no event says so",
            "have the table read (`dbt-debezium signal`)",
        ),
        Reason(
            "type_converted",
            "S19",
            "a statement converted a column's type, or a handling mode of the connector changed; "
            "rows that have not changed since are as they were sent, and may have another value or "
            "form now",
            "have the table read (`dbt-debezium signal`)",
        ),
        Reason(
            "key_changed",
            "S9",
            "its key has other columns than before, so a row that changed under both keys appears "
            "twice",
            "list columns that its rows have under both keys in identity of its history model",
            "name columns that its rows have under both keys with --identity",
        ),
        Reason(
            "not_waited_for",
            "S13",
            "it has landed, and not_ingested_tables names it, so its missing changes are not "
            "waited for and readers may see transactions without them",
            "{land} its topic to its end, and take it out of not_ingested_tables",
            "leave its pattern out of --not-ingested",
        ),
        Reason(
            "dropped_or_not_captured",
            "S23",
            "the schema-change topic says DROP, so it was dropped or is no longer captured; its "
            "rows are kept",
            "remove its models if the table is gone",
            "if the table is gone, leave its topic out",
        ),
        Reason(
            "nothing_seen",
            "S23",
            "it is expected, and no change of it has been published",
            "compare captured of its history model with table.include.list of the connector",
            "see what holds its source",
        ),
    ]
)
"""By name."""
