"""`judge_sources` for Spark SQL: the narrow rows of a source in, what a run says of it out."""

import traceback
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # ships no types
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udtf

from dbt_debezium.errors import DebeziumError
from dbt_debezium.evidence import COLUMNS as NARROW
from dbt_debezium.evidence import (
    Judged,
    Known,
    Look,
    Settings,
    Topic,
    decoded,
    encoded,
    judge_source,
)
from dbt_debezium.evidence.facts import TopicPartition
from dbt_debezium.evidence.groups import FOREIGN, coded, plain
from dbt_debezium.evidence.verdicts import UnitVerdict
from dbt_debezium.functions.columns import sql_columns
from dbt_debezium.judge.marks import Decision, Range
from dbt_debezium.patterns import matches

AT_ONCE: Final = 20_000
"""Rows that are handed to Spark in one piece."""

GIVEN: Final = pa.schema(
    [
        pa.field("judged_source", pa.string()),
        pa.field("said", pa.string()),
        pa.field("content", pa.string()),
        pa.field("settings", pa.string()),
        pa.field("number", pa.int64()),
        pa.field("flag", pa.bool_()),
        *NARROW,
    ]
)
"""The columns of a row. `said` is null in the row of a message, which has the columns of
`evidence.COLUMNS`. Else it tells what a run knows beside messages, and where that stands:

- `source`: `content` is its state, null before the first run, `settings` a `ProjectSettings`.
- `topic`: `topic`, its role in `content`, and in `flag` whether it is leading.
- `settled`: `transaction_id` of a message of this run is settled, at the position in `content`, and
  was committed at `committed_at_micros`.
- `settled_snapshot`: likewise the place of its reads, in `unit_id`.
- `decision`: `content`, on the transaction or snapshot `transaction_id`, as operators name it.
- `failed`: a run has failed on `transaction_id`, and holds it for the reason in `content` (S12).
- `look`: at `topic` and `partition`, whose end is `number`, at `landed_at_micros`, sure by `flag`.
- `fetched`: offsets from `offset` to `number` of `topic` and `partition` that have been read.
- `earlier_state`: `content` is the state of `source`, whose topics are those of the judged one now.
"""

_COUNT: Final = pa.struct(
    [
        ("data_collection", pa.string()),
        ("expected_count", pa.int64()),
        ("received_count", pa.int64()),
    ]
)
_RANGE: Final = pa.struct([("first_offset", pa.int64()), ("last_offset", pa.int64())])
SAID: Final = pa.schema(
    [
        ("source", pa.string()),
        ("kind", pa.string()),
        ("unit_kind", pa.string()),
        ("unit_id", pa.string()),
        ("verdict", pa.string()),
        ("is_settled_now", pa.bool_()),
        ("link_kind", pa.string()),
        ("transaction_id", pa.string()),
        ("position", pa.string()),
        ("read_position", pa.string()),
        ("held_reason", pa.string()),
        ("proof", pa.string()),
        ("commit_number", pa.int64()),
        ("committed_at", pa.int64()),
        ("has_reset_counters", pa.bool_()),
        ("log_order", pa.string()),
        ("event_count", pa.int64()),
        ("miscounted_tables", pa.list_(_COUNT)),
        ("topic", pa.string()),
        ("partition", pa.int64()),
        ("outcome", pa.string()),
        ("message_count", pa.int64()),
        ("known_ranges", pa.list_(_RANGE)),
        ("contiguous_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("unplaced_offsets", pa.list_(pa.int64())),
        ("event_position", pa.string()),
        ("link_position", pa.string()),
        ("has_signals", pa.bool_()),
        ("data_collections", pa.list_(pa.string())),
        ("content", pa.string()),
    ]
)
"""The columns of what is said, by `kind`:

- `unit`: the verdict on a unit. Of a link of the chain one row has the unit that bears its name.
- `open`: a unit whose messages the next run is given again.
- `progress`: how far a partition has come.
- `outcome`: how many messages of a partition have one outcome.
- `state`: `content`, for the next run.
- `refusal`: why the source cannot be judged, in `content`. All of its messages are held then.
"""


class ProjectSettings(msgspec.Struct, forbid_unknown_fields=True):
    """What a project says of its sources, as the macro `judge_settings` writes it."""

    landing_reaches_the_end: bool
    sources_without_truncate: list[str]
    watermark_sources: list[str]
    refused_proofs: list[Literal["watermark", "none"]]
    quiet_partition_seconds: float
    not_ingested_tables: list[str]

    def of(self, source: str) -> Settings:
        """What that says of one source."""
        return Settings(
            reaches_the_end=self.landing_reaches_the_end,
            sends_no_truncates=any(matches(one, source) for one in self.sources_without_truncate),
            is_watermark=any(matches(one, source) for one in self.watermark_sources),
            refused_proofs=tuple(self.refused_proofs),
            quiet_micros=round(self.quiet_partition_seconds * 1_000_000),
            not_ingested=tuple(self.not_ingested_tables),
        )


_SETTINGS: Final = msgspec.json.Decoder(ProjectSettings)


class JudgeSources:
    """The table function. Spark makes one for each source, and hands it the rows in batches."""

    def __init__(self) -> None:
        # One thread is what a task of Spark has; more would each take memory.
        pa.set_cpu_count(1)
        self._messages: list[pa.Table] = []
        self._facts: list[pa.Table] = []
        self._source: str | None = None

    def eval(self, rows: pa.Table) -> Iterator[pa.Table]:
        """Take in a batch; nothing is known before the last one."""
        if isinstance(rows, pa.RecordBatch):
            rows = pa.Table.from_batches([rows])
        if self._source is None and rows.num_rows:
            self._source = rows["judged_source"][0].as_py()
        is_message = pc.is_null(rows["said"])
        messages = rows.filter(is_message)
        if messages.num_rows:
            # Texts that repeat are kept once, so that the batch can go.
            self._messages.append(coded(messages.select(NARROW.names)))
        facts = rows.filter(pc.invert(is_message))
        if facts.num_rows:
            self._facts.append(facts)
        return iter(())

    def terminate(self) -> Iterator[pa.Table]:
        """Judge the source; nothing in a task of Spark that no source has come to."""
        if self._source is None:
            return
        rows = pa.concat_tables(self._messages) if self._messages else NARROW.empty_table()
        self._messages.clear()
        facts = [row for some in self._facts for row in some.to_pylist()]
        said = all_said(self._source, rows, facts)
        while some := [row for row, _ in zip(said, range(AT_ONCE), strict=False)]:
            yield pa.Table.from_pylist(some, schema=SAID)


def all_said(
    source: str, rows: pa.Table, facts: list[dict[str, Any]]
) -> Iterator[dict[str, object]]:
    """What a run says of a source, as rows of SAID without the columns that are null.

    Args:
        source: its name.
        rows: of its messages, with the columns of `evidence.COLUMNS`.
        facts: what else is known, as rows of GIVEN.
    """
    given = _Given(source, facts)
    if not given.is_judged:  # an operator has decided on a source of which nothing has landed
        return
    try:
        judged = judge_source(rows, decoded(source, given.state), given.known())
        found = _rows_of(judged, given)
    except DebeziumError as error:
        found = _refused(rows, given, str(error))
    except Exception as error:  # one source must never stop the others
        found = _refused(rows, given, f"{source}: {_internal(error)}")
    for row in found:
        yield {"source": source, **row}


def _refused(rows: pa.Table, given: "_Given", sentence: str) -> Iterator[dict[str, object]]:
    """A source that cannot be judged keeps its state, and all of its messages are held for the next
    run. What it has seen of other sources' messages in its topics becomes a gap, which holds more
    and never less."""
    yield {"kind": "refusal", "content": sentence}
    is_own = pc.and_(
        pc.not_equal(plain(rows["kind"]), FOREIGN),
        pc.fill_null(pc.not_equal(plain(rows["unit_kind"]), FOREIGN), True),
    )
    own = pa.table({one: plain(rows[one]) for one in ("topic", "partition", "offset")})
    counts = own.filter(is_own).group_by(["topic", "partition"], use_threads=False)
    known = counts.aggregate([("offset", "count_distinct"), ("offset", "count")])
    for row in known.to_pylist():
        held = row["offset_count_distinct"]
        for outcome, count in (("held", held), ("duplicate", row["offset_count"] - held)):
            if count:
                place = {"topic": row["topic"], "partition": row["partition"]}
                yield {"kind": "outcome", **place, "outcome": outcome, "message_count": count}
    if given.state is not None:
        yield {"kind": "state", "content": given.state}


def _internal(error: Exception) -> str:
    """An error that nobody has foreseen, as a sentence. Its own words may hold values of rows."""
    *_, frame = traceback.extract_tb(error.__traceback__)
    return (
        f"it cannot be judged: {type(error).__name__} in {Path(frame.filename).name}, line "
        f"{frame.lineno}; report that, and run once with --full-refresh"
    )


class _Given:
    """What a run knows of a source beside messages."""

    def __init__(self, source: str, facts: list[dict[str, Any]]) -> None:
        self._source = source
        self._by: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in facts:
            self._by[row["said"]].append(row)
        self.settled: dict[str, str | None] = {}
        self.settled_times: dict[str, int] = {}
        for row in self._by["settled"]:
            self.settled.setdefault(row["transaction_id"], row["content"])
            if row["committed_at_micros"] is not None:
                self.settled_times[row["transaction_id"]] = row["committed_at_micros"]

    @property
    def is_judged(self) -> bool:
        return bool(self._by["source"])

    @property
    def state(self) -> str | None:
        return next((one["content"] for one in self._by["source"]), None)

    def known(self) -> Known:
        settings = next((one["settings"] for one in self._by["source"]), None)
        topics: dict[str, Topic] = {
            one["topic"]: Topic(one["content"], one["flag"]) for one in self._by["topic"]
        }
        looks: dict[TopicPartition, Look] = {
            (one["topic"], one["partition"]): Look(
                one["number"], one["landed_at_micros"], one["flag"]
            )
            for one in self._by["look"]
        }
        return Known(
            self._source,
            _SETTINGS.decode(settings).of(self._source) if settings else Settings(),
            [_decision(one["transaction_id"], one["content"]) for one in self._by["decision"]],
            self.settled,
            self.settled_times,
            frozenset(one["unit_id"] for one in self._by["settled_snapshot"]),
            {one["transaction_id"]: one["content"] for one in self._by["failed"]},
            topics,
            looks,
            [
                Range(one["topic"], one["partition"], one["offset"], one["number"])
                for one in self._by["fetched"]
            ],
            [decoded(one["source"], one["content"]) for one in self._by["earlier_state"]],
        )


def _decision(what: str, decided: Any) -> Decision:
    place = what.removeprefix("snapshot ")
    if place != what:
        return Decision(decided, snapshot_position=place)
    return Decision(decided, transaction_id=what)


def _rows_of(judged: Judged, given: _Given) -> Iterator[dict[str, object]]:
    for verdict in judged.verdicts:
        yield _unit(verdict, given.settled)
    for unit in judged.state.open:
        yield {"kind": "open", "unit_kind": unit.kind, "unit_id": unit.id}
    for one in judged.progress:
        yield {"kind": "progress", **one._asdict()}
    for row in judged.outcomes.to_pylist():
        yield {"kind": "outcome", **row}
    yield {"kind": "state", "content": encoded(judged.state)}


def _unit(one: UnitVerdict, settled: dict[str, str | None]) -> dict[str, object]:
    """A row of a verdict. What is late was settled by an earlier run, unless it is a transaction
    that a published snapshot has seen and that lands only now."""
    is_new = one.unit_kind == "transaction" and one.unit_id not in settled
    is_settled_now = one.is_settled and (one.verdict != "late" or is_new)
    return {"kind": "unit", "is_settled_now": is_settled_now, **one._asdict()}


def register(spark: SparkSession) -> None:
    """Make `judge_sources(table(…) partition by judged_source)` known to the session's SQL."""
    function: Any = arrow_udtf(JudgeSources, returnType=sql_columns(SAID))
    spark.udtf.register("judge_sources", function)
