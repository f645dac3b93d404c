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
    Mutant("models/staging/stg_message.sql", "first_value(message.content_hash) over copies",
           "last_value(message.content_hash) over copies"),
    Mutant(f"{T}/rows/int_change.sql", "    table_name,\n    {{ op('truncate') }} as operation",
           "    table_name,\n    'c' as operation"),
    Mutant(f"{T}/rows/int_change.sql",
           "case when snapshot = 'incremental' then place - place_count else place end",
           "case when snapshot = 'incremental' then place + 1000000 else place end"),
    Mutant(f"{T}/rows/int_change.sql", "        total_order as position\n    from parted_event",
           "        data_collection_order as position\n    from parted_event"),
    Mutant("macros/row_history.sql",
           "place -> place > struct(row_change.commit_number, row_change.position)",
           "place -> place.commit_number > row_change.commit_number"),
    Mutant("macros/row_history.sql",
           "operation != {{ op('delete') }}\n                        and (next", "(next"),
    Mutant("macros/row_history.sql", "(next_commit_number > commit_number or", "(true or"),
    Mutant("macros/bag_row_change.sql", "when copies > 0 then concat(content, '#', copies_after)",
           "when copies > 0 then concat(content, '#', 1)"),
    Mutant("macros/bag_row_change.sql",
           "where operation in ({{ op('update') }}, {{ op('delete') }})",
           "where operation in ({{ op('delete') }})"),
    Mutant(f"{T}/tables/table_flag.sql", "fact.kept_commit_number = fact.snapshot_commit_number",
           "false"),
    Mutant(f"{T}/proof/int_operator_decision.sql", "decision != 'new_epoch', ", ""),
    # What is published
    Mutant(f"{T}/rows/int_change.sql", " and message.copy_number = 1", ""),
    Mutant(f"{T}/rows/int_change.sql", "and not unit.has_reset_counters", ""),
    Mutant(f"{T}/proof/settled_unit.sql", "and is_settled_now", "and verdict = 'commit'"),
    Mutant(f"{T}/outcomes/held_message.sql",
           "or (message.kind = 'change' and message.unit_id is null)", ""),
    Mutant(f"{T}/proof/proof.sql", "or message.kind in ('transaction_marker', 'quarantined')", ""),
)  # fmt: skip
"""Mistakes in SQL."""

E = "python/dbt_debezium/messages/envelope.py"
R = "python/dbt_debezium/messages/transaction_records.py"
C = "python/dbt_debezium/connectors"
J = "python/dbt_debezium/json_text.py"
S = "python/dbt_debezium/messages/signal_rows.py"
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
    Mutant(S, " or len(columns) != len(SIGNAL_FIELDS)", ""),
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
