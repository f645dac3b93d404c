"""`judge_marks` for Spark SQL: the marks of a source in, its verdicts out, one source at a time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udtf

from dbt_debezium.errors import DebeziumError
from dbt_debezium.judge import ChainEnd, Commit, Discarded, Hold, Passed, Verdict, judge
from dbt_debezium.judge.marks import KINDS, Mark

CHAIN_END = "chain_end"
"""The kind of the row that says where the published chain ends; absent before the first commit."""
COLUMNS = pa.schema(
    [
        ("source", pa.string()),
        ("link_number", pa.int64()),
        ("verdict", pa.string()),
        ("link_kind", pa.string()),
        ("position", pa.string()),
        ("read_position", pa.string()),
        ("transaction_id", pa.string()),
        ("held_reason", pa.string()),
        ("lacking_topics", pa.list_(pa.string())),
        ("proof", pa.string()),
        ("commit_number", pa.int64()),
        ("refusal", pa.string()),
    ]
)
SQL_TYPES = {pa.int64(): "bigint", pa.string(): "string", pa.list_(pa.string()): "array<string>"}
COLUMN_TYPES = ", ".join(f"{one.name} {SQL_TYPES[one.type]}" for one in COLUMNS)


class StoredEnd(msgspec.Struct, forbid_unknown_fields=True):
    """`ChainEnd` as SQL writes it: its logs are a map."""

    commit_number: int
    position: str | None
    snapshot_position: str | None
    end_offsets: tuple[int, ...]
    log_numbers: dict[str, int] | None
    reached_place: str | None
    position_before: str | None = None
    has_discarded_snapshot: bool = False

    def chain_end(self) -> ChainEnd:
        numbers = tuple(sorted((self.log_numbers or {}).items()))
        return ChainEnd(**{**msgspec.structs.asdict(self), "log_numbers": numbers})


END_DECODER = msgspec.json.Decoder(StoredEnd)
DECODERS: Mapping[str, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(mark) for kind, mark in KINDS.items()
}


def judged(source: str, rows: Iterable[tuple[str, str]]) -> Iterator[dict[str, object]]:
    """Verdicts of a source, as rows of `COLUMNS`.

    Args:
        source: its name.
        rows: kind and JSON text of each mark, in the order of `marks`; one of kind `CHAIN_END`
            says where the published chain ends.

    Returns:
        One row per verdict, numbered in the order of the chain. Where the judge refuses the source,
        one row more has no verdict but says why.

    Raises:
        msgspec.ValidationError: a field of a mark is missing, or of another type.
    """
    end = ChainEnd()
    marks: list[Mark] = []
    for kind, text in rows:
        if kind == CHAIN_END:
            end = END_DECODER.decode(text).chain_end()
        else:
            marks.append(DECODERS[kind].decode(text))
    try:
        for number, verdict in enumerate(judge(marks, end)):
            yield {"source": source, "link_number": number, **_columns(verdict)}
    except DebeziumError as error:
        yield {"source": source, "refusal": f"{source}: {error}"}
    except Exception as error:
        error.add_note(f"judge: the marks of source {source} were being judged")
        raise


def _columns(verdict: Verdict) -> dict[str, object]:
    found: dict[str, object] = {
        "verdict": type(verdict).__name__.lower(),
        "link_kind": verdict.kind,
        "position": verdict.position,
        "transaction_id": verdict.transaction_id,
    }
    if not isinstance(verdict, Passed):
        found["read_position"] = verdict.read_position
    match verdict:
        case Commit():
            number = verdict.chain_end.commit_number
            return {**found, "proof": verdict.proof, "commit_number": number}
        case Discarded():
            return {**found, "commit_number": verdict.chain_end.commit_number}
        case Hold():
            return {
                **found,
                "held_reason": verdict.reason,
                "lacking_topics": [*verdict.lacking_topics],
            }
    return found


class JudgeMarks:
    """The table function. Spark makes one for each source, and hands it the rows in batches.

    It keeps the batches until the last one: the judge reads marks, and is not given them.
    """

    def __init__(self) -> None:
        self._batches: list[pa.Table] = []

    def eval(self, marks: pa.Table) -> Iterator[pa.Table]:
        """Take in a batch of `int_mark`; nothing is known before the last one."""
        self._batches.append(marks.select(["source", "kind", "mark"]))
        return iter(())

    def terminate(self) -> Iterator[pa.Table]:
        """Judge the source; nothing in a task of Spark that no source has come to."""
        if not self._batches:
            return
        source = self._batches[0]["source"][0].as_py()
        found = judged(source, self._rows())
        yield pa.Table.from_pylist([*found], schema=COLUMNS)

    def _rows(self) -> Iterator[tuple[str, str]]:
        for batch in self._batches:
            yield from zip(batch["kind"].to_pylist(), batch["mark"].to_pylist(), strict=True)


def register(spark: SparkSession) -> None:
    """Make `judge_marks(table(… partition by source order by …))` known to the session's SQL."""
    function: Any = arrow_udtf(JudgeMarks, returnType=COLUMN_TYPES)
    spark.udtf.register("judge_marks", function)
