"""Mistakes that a hand could make in the models and in the flattener, each a small change of text.

What a tool would draw at random is mostly caught by the parser; these are drawn from the rules of
`semantics.md`, one or more for each that the text stands for.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake."""

    path: str
    text: str
    """What stands in the file once."""
    mistake: str

    def __str__(self) -> str:
        file = self.path.rpartition("/")[2]
        return f"{file}: {' '.join(self.text.split())} -> {' '.join(self.mistake.split())}"

    def applied(self, source: Path) -> str:
        """The file with the mistake.

        Raises:
            ValueError: its text does not stand there, or more than once.
        """
        text = (source / self.path).read_text()
        if text.count(self.text) != 1:
            raise ValueError(f"{self}: stands in the file {text.count(self.text)} times, not once")
        return text.replace(self.text, self.mistake)


T = "models/transactions"
MODELS = (
    Mutant("macros/event_hash.sql", "when snapshot is null and event_position is null",
           "when false"),
    # S1, S17: copies, and what is published already
    Mutant("models/staging/stg_sent_message.sql", "xxhash64(total_order, data_collection_order)",
           "xxhash64(data_collection_order)"),
    Mutant("models/staging/stg_message.sql", "first_value(sent.content_hash) over copies",
           "last_value(sent.content_hash) over copies"),
    Mutant("macros/event_hash.sql", "event_position, row_key)", "event_position)"),
    Mutant(f"{T}/cut/int_placed_event.sql", "where not is_already_published and copy_number = 1",
           "where not is_already_published"),
    Mutant(f"{T}/counts/int_table_count.sql", "count_if(copy_number = 1) as received_count",
           "count(*) as received_count"),
    # S13: complete
    Mutant(f"{T}/counts/int_table_count.sql", "and received_count.first_order = 1", ""),
    Mutant(f"{T}/counts/int_table_count.sql",
           "received_count.order_count = received_count.received_count\n        and ", ""),
    Mutant(f"{T}/counts/int_table_count.sql",
           "has_content_of_first_copy and has_order_of_first_copy",
           "has_content_of_first_copy"),
    Mutant(f"{T}/counts/int_received_transaction.sql",
           "bool_or(received_count < expected_count) as is_short",
           "sum(received_count) < sum(expected_count) as is_short"),
    Mutant(f"{T}/counts/int_received_transaction.sql",
           "bool_or(received_count > expected_count) as is_long",
           "false as is_long"),
    Mutant(f"{T}/counts/int_marked_transaction.sql", "bool_or(marker = 'END') as has_end",
           "true as has_end"),
    Mutant(f"{T}/counts/int_transaction_count.sql",
           "count(distinct total_order) = count(*)", "true"),
    Mutant(f"{T}/progress/int_unreadable_span.sql",
           "message.copy_number = 1 and not message.is_already_published", "true"),
    Mutant(f"{T}/progress/int_landed_partition.sql",
           "when bit_count(bits) = last_offset - first_offset + 1", "when true"),
    Mutant(f"{T}/progress/partition_progress.sql",
           "max(message.event_position) filter (\n"
           "            where message.`offset` <= known.contiguous_offset\n        )",
           "max(message.event_position)"),
    Mutant(f"{T}/counts/int_transaction_count.sql",
           "received.key_leave_count != received.key_enter_count", "false"),
    # S14: linked
    Mutant(f"{T}/counts/int_end_marker.sql", "where last_partition = 0", "where partition = 0"),
    Mutant(f"{T}/counts/int_end_marker.sql",
           "transform(unplaced_offsets, bad -> bad + 1)", "array()"),
    # S4, S5: snapshots
    Mutant(f"{T}/cut/int_change.sql", "{{ op('truncate') }} as operation", "'c' as operation"),
    # What the judge is told
    Mutant(f"{T}/judge/int_judged_partition.sql",
           "when size(placed.sources) != 1 or not placed.is_own then null", "when false then null"),
    Mutant(f"{T}/judge/int_judged_partition.sql",
           "placed.is_own and size(placed.sources) > 0 as has_changes", "true as has_changes"),
    Mutant(f"{T}/judge/int_gap_mark.sql", "where marker = 'BEGIN' and not has_end", "where false"),
    Mutant(f"{T}/judge/int_gap_mark.sql",
           "after_position = '' as may_be_a_first_read", "false as may_be_a_first_read"),
    Mutant(f"{T}/judge/int_marker_mark.sql",
           "where marker.marker = 'END' and marker.delivery_number = 1",
           "where marker.marker = 'END'"),
    Mutant(f"{T}/judge/int_snapshot_mark.sql", "count_if(copy_number = 1) as read_count",
           "count(*) as read_count"),
    Mutant(f"{T}/judge/int_read_partition.sql",
           "message.`offset` > read_partition.last_read_offset and not message.is_read",
           "message.`offset` > read_partition.last_read_offset"),
    Mutant(f"{T}/judge/int_read_partition.sql",
           "where sent.kind not in ('quarantined', 'tombstone')",
           "where sent.kind != 'quarantined'"),
    Mutant(f"{T}/judge/int_log_mark.sql",
           "case when previous_position is null then 4 else 1 end as link_order",
           "1 as link_order"),
    Mutant(f"{T}/judge/int_uncounted_mark.sql", "preceding_event_position as older_position",
           "cast(null as string) as older_position"),
    Mutant(f"{T}/judge/int_event_mark.sql",
           "and (counted.is_long or not counted.has_one_order)", "and counted.is_long"),
    Mutant(f"{T}/cut/int_proven_link.sql", "where verdict in ('commit', 'discarded', 'passed')",
           "where verdict in ('commit', 'discarded')"),
    Mutant(f"{T}/outcomes/held_transaction.sql",
           "pending.previous_commit_position < int_cut.snapshot_position", "false"),
    # S6: windows
    Mutant(f"{T}/cut/int_change.sql",
           "case when snapshot = 'incremental' then place - place_count else place end",
           "case when snapshot = 'incremental' then place + 1000000 else place end"),
    # S3, S8, S9, S12: rows
    Mutant(f"{T}/cut/int_change.sql", "        total_order as position\n    from parted_event",
           "        data_collection_order as position\n    from parted_event"),
    Mutant("macros/row_history.sql",
           "place -> place > struct(row_change.commit_number, row_change.position)",
           "place -> place.commit_number > row_change.commit_number"),
    Mutant("macros/row_history.sql", "operation != {{ op('delete') }}\n        and (next",
           "(next"),
    Mutant("macros/row_history.sql", "(next_commit_number > commit_number or", "(true or"),
    Mutant("macros/bag_row_change.sql", "when copies > 0 then concat(content, '#', copies_after)",
           "when copies > 0 then concat(content, '#', 1)"),
    Mutant("macros/bag_row_change.sql",
           "where operation in ({{ op('update') }}, {{ op('delete') }})",
           "where operation in ({{ op('delete') }})"),
    Mutant(f"{T}/tables/table_flag.sql", "fact.kept_commit_number = fact.snapshot_commit_number",
           "false"),
    Mutant(f"{T}/counts/int_located_transaction.sql",
           "concat(\n                        followed.previous_commit_position, '+'",
           "concat(\n                        followed.last_event_position, '+'"),
    Mutant(f"{T}/counts/int_located_transaction.sql",
           "in ('', followed.previous_commit_position)", "= ''"),
    Mutant(f"{T}/counts/int_located_transaction.sql",
           "in ('', followed.previous_commit_position)", "= followed.previous_commit_position"),
    Mutant(f"{T}/counts/int_end_marker.sql",
           "marker = 'BEGIN'\n", "false\n"),
    Mutant(f"{T}/counts/int_end_marker.sql",
           "where is_end and (readable_from is not null or topic is null)", "where is_end"),
    Mutant(f"{T}/counts/int_transaction.sql",
           "and not known.has_end\n            and known.names_predecessor", "and false"),
    Mutant(f"{T}/counts/int_located_transaction.sql",
           "greatest(last_event_position, previous_commit_position)\n",
           "last_event_position\n"),
    Mutant("models/staging/stg_message.sql",
           "or sent.event_position <= starting_commit.snapshot_position", "or true"),
    Mutant(f"{T}/counts/int_located_transaction.sql",
           "when names_predecessor and has_overlapping_streams then null", ""),
    Mutant(f"{T}/counts/int_followed_transaction.sql",
           "and first_naming_event_position > previous_commit_position", "and false"),
    Mutant("models/staging/stg_message.sql",
           "sent.snapshot is null\n                        and sent.transaction_id",
           "false\n                        and sent.transaction_id"),
    Mutant("models/staging/stg_message.sql",
           "!= starting_commit.end_markers[0].transaction_id", "is not null"),
    Mutant(f"{T}/counts/int_operator_decision.sql", "decision != 'new_epoch', ", ""),
)  # fmt: skip
"""Mistakes in SQL."""

E = "python/dbt_debezium/envelope.py"
R = "python/dbt_debezium/transaction_records.py"
C = "python/dbt_debezium/connectors"
J = "python/dbt_debezium/json_text.py"
FLATTENER = (
    Mutant(E, "if value is None:\n        if is_internal", "if not value:\n        if is_internal"),
    Mutant(E, "    if is_internal(topic, key, value):\n        return Flat(\"internal\"",
           "    if False:\n        return Flat(\"internal\""),
    Mutant(E, 'if operation is None or operation not in OPERATIONS:', "if operation is None:"),
    Mutant(E, "if not is_message and not (source.table and schema):", "if False:"),
    Mutant(E, 'if after is None and operation in ("c", "r", "u"):',
           'if after is None and operation in ("c", "r"):'),
    Mutant(E, 'if operation == "d" and before is None and row_key is None:', "if False:"),
    Mutant(E, "if name == NEW_KEY:\n", "if name == OLD_KEY:\n"),
    Mutant(E, "            if name not in after and key is not None:", "            if False:"),
    Mutant(R, "position if marker.status == \"END\" else None", "position"),
    Mutant(R, "if event_count is None or (marker.data_collections is None and event_count > 0):",
           "if event_count is None:"),
    Mutant(R, "counted = collection_counts.get(table, 0) + count", "counted = count"),
    Mutant(R, "database = database if len(databases) == 1 else None", ""),
    Mutant(E, "if source is None or not source.name or not source.connector:",
           "if source is None or not source.connector:"),
    Mutant(E, 'if value.startswith("\\x00"):', "if False:"),
    Mutant(E, "        total_order = data_collection_order = 1\n", "        pass\n"),
    Mutant(R,
           'return utf8(named or topic.removesuffix(".transaction") or topic)',
           "return utf8(named or topic)"),
    Mutant("python/dbt_debezium/signal_rows.py", " or len(columns) != len(SIGNAL_FIELDS)", ""),
    Mutant(J, "if len(encoded) > LARGEST_BYTES:", "if False:"),
    Mutant(J, "> DEEPEST_LEVELS and levels(text) > DEEPEST_LEVELS", "> DEEPEST_LEVELS and False"),
    Mutant(f"{C}/base.py", 'return "true" if snapshot is None and operation == "r" else snapshot',
           "return snapshot"),
    Mutant(f"{C}/base.py", "(ts_ms, 1000)", "(ts_ms, 1)"),
    Mutant(f"{C}/base.py", "if number is not None and not -LARGEST <= number <= LARGEST:",
           "if False:"),
    Mutant(f"{C}/postgresql.py", "transaction_id = position = None\n        previous",
           "position = None\n        previous"),
    Mutant(f"{C}/postgresql.py", "previous = read_sequence(self.sequence, 0)",
           "previous = read_sequence(self.sequence, 1)"),
    Mutant(f"{C}/postgresql.py", "lsn.zfill(POSITION_DIGITS) if colon else None",
           "lsn if colon else None"),
    Mutant(f"{C}/mysql.py", "is_whole = operation == \"t\" and snapshot is None",
           "is_whole = False"),
    Mutant(f"{C}/mysql.py", "padded(self.row, SMALL_DIGITS),\n", ""),
    Mutant(f"{C}/mysql.py", "number.zfill(NUMBER_DIGITS)", "number"),
    Mutant(f"{C}/mysql.py", "found[\"server\"].lower()", "found[\"server\"]"),
    Mutant(f"{C}/sqlserver.py", 'f"{name}.{self.db}" if name and self.db else name', "name"),
    Mutant(f"{C}/sqlserver.py", "padded(self.event_serial_no, NATURAL_DIGITS)",
           "padded(0, NATURAL_DIGITS)"),
    Mutant(f"{C}/base.py", "if len(known) == len(parts) else None", ""),
    Mutant(E, "if event_position is None and not is_message and", "if False and"),
    Mutant(f"{C}/log_sequence.py", "return text.lower()", "return text"),
    Mutant(f"{C}/log_sequence.py", "commit_position if is_incremental else None", "None"),
    Mutant(f"{C}/oracle.py", 'if snapshot != "incremental":', "if True:"),
    Mutant(f"{C}/cdl.py", '"UPDATE": "u"', '"UPDATE": "c"'),
    Mutant(f"{C}/cdl.py", 'if message_type != "0":', "if False:"),
)  # fmt: skip
"""Mistakes in Python."""
