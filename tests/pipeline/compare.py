"""Published tables against what the source held, row for row.

Every check returns sentences, one for each difference; none when all is equal.
"""

import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from arrivals import Arrival
from oracle import Bag, ExpectedCut, History, Message, Row, Table, freeze, parse, rows_of

SIGNAL_TABLE = "debezium_signal"

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DISPOSITIONS = (
    "applied", "superseded", "duplicate", "tombstone", "control", "held", "quarantined",
)  # fmt: skip


# --- an export directory -----------------------------------------------------------------------


def read_cuts(directory: Path) -> dict[str, Row]:
    """`cut.json` by source.

    Raises:
        ValueError: a source stands in it twice.
    """
    entries = json.loads((directory / "cut.json").read_text(encoding="utf-8"))
    cuts = {entry["source"]: entry for entry in entries}
    if len(cuts) != len(entries):
        raise ValueError(f"{directory / 'cut.json'} names a source twice")
    return cuts


def read_tables(directory: Path, source: str) -> dict[Table, list[Row]]:
    """The exported rows of one source by table; a source without files has no tables."""
    tables: dict[Table, list[Row]] = {}
    for path in sorted((directory / source).glob("*.jsonl")):
        schema, _, table = path.stem.partition(".")
        with path.open(encoding="utf-8") as lines:
            tables[schema, table] = [parse(line) for line in lines if line.strip()]
    return tables


def compare_export(
    directory: Path,
    source: str,
    history: History,
    commit_number: int,
    modelled: Collection[str] | None = None,
) -> list[str]:
    """The tables of one source against the source's state after a commit (0: nothing published).

    `modelled` names the tables that have a model; None where all have.
    """
    expected = {
        table: rows
        for table, rows in rows_of(history.state(commit_number)).items()
        if modelled is None or table[1] in modelled
    }
    return table_differences(source, expected, read_tables(directory, source))


def compare_cut(entry: Mapping[str, Any] | None, expected: ExpectedCut, source: str) -> list[str]:
    """One entry of `cut.json` (None: the source is not in it) against the largest provable cut."""
    found = entry or {}
    differences = []
    if (found.get("commit_number") or 0) != expected.commit_number:
        differences.append(
            f"{source}: the cut is commit {found.get('commit_number')}, "
            f"provable is {expected.commit_number} (transaction {expected.transaction_id})"
        )
    if found.get("transaction_id") != expected.transaction_id:
        differences.append(
            f"{source}: the cut's transaction is {found.get('transaction_id')!r}, "
            f"not {expected.transaction_id!r}"
        )
    position = found.get("commit_position")
    # The snapshot has no END; whatever position it is given is not compared.
    if expected.commit_position is not None and str(position) != str(expected.commit_position):
        differences.append(
            f"{source}: the cut's position is {position!r}, not {expected.commit_position}"
        )
    return differences


def compare_arrivals(
    directory: Path,
    history: History,
    arrivals: Iterable[Arrival],
    *,
    undetermined: str | None = None,
    knows_the_largest: bool = True,
) -> list[str]:
    """An export against what each arrival of a capture proves.

    Args:
        directory: of the export.
        history: of the whole capture.
        arrivals: each a source of its own.
        undetermined: a table, as `schema.table`, whose rows are not compared.
        knows_the_largest: whether the oracle knows the largest cut; if not, states are compared.
    """
    cuts = read_cuts(directory)
    differences: list[str] = []
    reached = []
    for arrival in arrivals:
        entry = cuts.get(arrival.prefix)
        number = int((entry or {}).get("commit_number") or 0)
        reached.append(number)
        rows = compare_export(directory, arrival.prefix, history, number)
        # A preview shows no table of signals to the connector (S10).
        differences += [
            line
            for line in rows
            if f" {undetermined}:" not in line and f".{SIGNAL_TABLE}:" not in line
        ]
        if knows_the_largest:
            differences += compare_cut(entry, arrival.expected_cut(history), arrival.prefix)
        if entry is not None or arrival.messages:
            differences += check_counts(entry or {}, count_of_source(arrival.messages))
    print(f"{len(reached)} arrivals, published {sorted(reached)} of {len(history.commits)}")
    return differences


def count_of_source(messages: Iterable[Message]) -> int:
    """How many messages name a source, or stand in a topic of one; notifications do not."""
    return sum('"aggregate_type"' not in (message["value"] or "") for message in messages)


def check_counts(entry: Mapping[str, Any], landed: int) -> list[str]:
    """That every landed message of a source ended in exactly one way."""
    source, counts = entry["source"], entry["counts"]
    differences = []
    if counts["landed"] != landed:
        differences.append(f"{source}: counts {counts['landed']} landed messages, {landed} arrived")
    settled = sum(counts[name] for name in DISPOSITIONS)
    if settled != counts["landed"]:
        parts = ", ".join(f"{name} {counts[name]}" for name in DISPOSITIONS)
        differences.append(f"{source}: landed {counts['landed']} but settled {settled}: {parts}")
    return differences


def check_all_counts(cuts: Mapping[str, Row], prefix: str, landed: int) -> list[str]:
    """The same of all sources of a prefix, some of which are named by their database too."""
    entries = [
        entry for name, entry in cuts.items() if name == prefix or name.startswith(f"{prefix}.")
    ]
    differences = []
    if (found := sum(entry["counts"]["landed"] for entry in entries)) != landed:
        differences.append(f"{prefix}: counts {found} messages, {landed} landed")
    for entry in entries:
        differences += check_counts(entry, entry["counts"]["landed"])
    return differences


def table_differences(
    source: str,
    expected: Mapping[Table, Iterable[Row]],
    found: Mapping[Table, Iterable[Row]],
) -> list[str]:
    """Multiset differences by table; a table that is missing on one side is empty there."""
    differences = []
    for table in sorted(expected.keys() | found.keys()):
        wanted: Bag = Counter(map(freeze, expected.get(table, ())))
        got: Bag = Counter(map(freeze, found.get(table, ())))
        for rows, word in ((wanted - got, "missing"), (got - wanted, "too many")):
            if rows:
                shown = "; ".join(_shown(row) for row in list(rows.elements())[:3])
                differences.append(f"{source} {'.'.join(table)}: {rows.total()} {word}: {shown}")
    return differences


def _shown(row: Any) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name, value in row) + "}"


# --- what the database itself said -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """Every table of a database at one moment, in PostgreSQL's text form."""

    tables: dict[Table, list[Row]]
    column_types: dict[Table, dict[str, str]]
    last_transaction_id: str | None = None
    label: str = "end"


def read_expected(capture: Path) -> DatabaseState:
    """The last state: `expected/` of a capture."""
    types = _column_types(capture)
    tables = {}
    for table in types:
        path = capture / "expected" / f"{table[1]}.jsonl"
        zipped = path.with_suffix(".jsonl.gz")
        text = gzip.decompress(zipped.read_bytes()) if zipped.exists() else path.read_bytes()
        tables[table] = [json.loads(line) for line in text.decode().split("\n") if line]
    return DatabaseState(tables, types)


def read_database_cuts(capture: Path) -> list[DatabaseState]:
    """The states in between: `cuts.jsonl.gz` of a capture."""
    types = _column_types(capture)
    schemas = {table: schema for schema, table in types}
    with gzip.open(capture / "cuts.jsonl.gz", "rt", encoding="utf-8") as lines:
        cuts = [json.loads(line) for line in lines]
    return [
        DatabaseState(
            {(schemas[name], name): rows for name, rows in cut["tables"].items()},
            types,
            str(cut["cut"]["last_committed_txid"]),
            cut["cut"]["cut"],
        )
        for cut in cuts
    ]


def _column_types(capture: Path) -> dict[Table, dict[str, str]]:
    tables = json.loads((capture / "expected" / "_schema.json").read_text(encoding="utf-8"))
    return {tuple(name.split(".", 1)): shape["columns"] for name, shape in tables.items()}


def compare_with_database(
    source: str, found: Mapping[Table, Sequence[Row]], database: DatabaseState
) -> list[str]:
    """Rows with values as in messages or exports against the database; its tables only."""
    common = {
        table: [_comparable_row(row, types) for row in found.get(table, ())]
        for table, types in database.column_types.items()
    }
    expected = {
        table: [_comparable_row(row, database.column_types[table]) for row in rows]
        for table, rows in database.tables.items()
    }
    return table_differences(source, expected, common)


def compare_export_with_database(
    directory: Path, source: str, database: DatabaseState
) -> list[str]:
    """An export at the end of the log against `read_expected` of its capture."""
    return compare_with_database(source, read_tables(directory, source), database)


def _comparable_row(row: Row, types: Mapping[str, str]) -> Row:
    return {name: comparable(types.get(name, "text"), value) for name, value in row.items()}


def comparable(column_type: str, value: Any) -> Any:
    """One form for PostgreSQL's text, a Debezium value without schema, and an exported value.

    Numerics stay text: the scale counts. Instants become microseconds since 1970.

    >>> comparable("bigint", "7") == comparable("bigint", 7)
    True
    >>> comparable("timestamp with time zone", "2026-03-01 00:05:32.97+00")
    1772323532970000
    >>> comparable("timestamp with time zone", "2026-03-01T00:05:32.970000Z")
    1772323532970000
    >>> comparable("timestamp(3) without time zone", 1772323532970)
    1772323532970000
    """
    if value is None:
        return None
    name, precision = _type_name(column_type)
    try:
        if name in ("smallint", "integer", "bigint"):
            return int(value)
        if name in ("real", "double precision"):
            return float(value)
        if name == "boolean":
            return str(value).lower() in ("t", "true")
        if name == "timestamp with time zone":
            return _micros(datetime.fromisoformat(value))
        if name == "timestamp without time zone":
            if isinstance(value, int):
                return value * 1000 if precision <= 3 else value
            return _micros(datetime.fromisoformat(value))
        if name == "date":
            return (
                value if isinstance(value, int) else (date.fromisoformat(value) - EPOCH.date()).days
            )
    except ValueError:
        return str(value)  # infinity, years beyond Python's
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _type_name(column_type: str) -> tuple[str, int]:
    """A type without its parameters, and a time's number of fraction digits."""
    name, opened, rest = column_type.partition("(")
    if not opened:
        return name, 6
    digits, _, suffix = rest.partition(")")
    return name + suffix, int(digits) if digits.isdigit() else 6


def _micros(moment: datetime) -> int:
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH) // timedelta(microseconds=1)
