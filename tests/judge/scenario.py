"""Scenarios as text: what lands, message by message, and what the judge then says.

scenarios/README.md explains the lines. Each becomes a real Debezium message, which the product's
flattener reads.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from landed import Landed, flattened
from runs import COPIES, Runs
from splits import growing

from dbt_debezium.errors import DebeziumError
from dbt_debezium.evidence import Look
from dbt_debezium.judge import Verdict
from dbt_debezium.settings import DEFAULTS, Settings

SOURCE: Final = "shop"
SERVER: Final = "3ff300ed-e55c-11f1-98c4-02fc00000001"
"""Of MySQL's GTIDs."""
GENERIC: Final = Settings(generic_sources={SOURCE: ("commit_lsn", "change_lsn")})
EPOCH: Final = "since 2026-11-21 09:30:00: "
WIDTH: Final = 20
"""Of a position of PostgreSQL."""
BLOCK: Final = re.compile(r"^```(landed|known|verdict)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONNECTOR: Final = re.compile(r"^Connector: (\w+)(, of watermark_sources)?$", re.MULTILINE)
LINE: Final = re.compile(r"(?P<topic>\w+) (?P<partition>\d+)(?:@(?P<offset>\d+))?  +(?P<said>.+)")
OPERATIONS: Final = {"create": "c", "update": "u", "delete": "d", "truncate": "t", "read": "r"}
MARKERS: Final = (
    "first",
    "first_in_data_collection",
    "last_in_data_collection",
    "last",
    "incremental",
)

Clauses: TypeAlias = dict[str, str]


@dataclass(frozen=True)
class Step:
    """One run."""

    landed: list[str]
    known: list[str]
    """What the run knows beside messages: decisions, settings and rows that were missing."""
    verdict: list[str]


@dataclass(frozen=True)
class Scenario:
    """Runs, each with the verdict that it ends in."""

    name: str
    connector: str
    is_in_order: bool
    """Whether `watermark_sources` lists the source."""
    steps: list[Step]


def read_scenario(path: Path) -> Scenario:
    """A file of scenarios/."""
    text = path.read_text(encoding="utf-8")
    connector = CONNECTOR.search(text)
    steps: list[Step] = []
    blocks: dict[str, list[str]] = {}
    for kind, lines in BLOCK.findall(text):
        assert kind not in blocks, f"{path.name}: two blocks of {kind} before a verdict"
        blocks[kind] = [*filter(None, lines.split("\n"))]
        if kind == "verdict":
            steps.append(Step(blocks.get("landed", []), blocks.get("known", []), blocks[kind]))
            blocks = {}
    assert steps, f"{path.name}: no verdict"
    assert not blocks, f"{path.name}: no verdict behind {[*blocks]}"
    name = connector[1] if connector else "postgresql"
    return Scenario(path.stem, name, bool(connector and connector[2]), steps)


def play(
    scenario: Scenario, split: str | None = None, seed: int = 0
) -> Iterator[tuple[Runs, list[str], list[str]]]:
    """For each verdict what the judge says and what it should.

    Args:
        scenario: its steps.
        split: how what lands before a verdict is split into several runs; None for one run. What
            is said then is what they settle, and the verdict of the last. Decisions, quiet
            partitions and the end of what was sent are known to the last one alone.
        seed: of the split.
    """
    writer = Writer(scenario.connector)
    runs = Runs(writer.source, ["public.unlisted"], is_in_order=scenario.is_in_order)
    rng = Random(f"{scenario.name} {split} {seed}")
    landed: list[Landed] = []
    for step in scenario.steps:
        new = [*_landed(scenario, writer, step.landed)]
        markers = {(f"{SOURCE}.{at[0]}", at[1]) for at in writer.offsets if at[0] == "transaction"}
        runs.settings = replace(runs.settings, marker_partitions=frozenset(markers))
        for line in step.known:
            if line.startswith(ALWAYS_KNOWN):
                learn(runs, line)
        try:
            parts = [] if split is None or not new else growing(new, split, rng)
            settled = [one for part in parts for one in _settled_early(runs, [*landed, *part])]
            for line in step.known:
                learn(runs, line)
            landed += new
            runs.run(landed)
        except DebeziumError as error:
            landed += [one for one in new if one not in landed]
            yield runs, [f"refused: {error}"], step.verdict
            continue
        now = [said(one) for one in runs.verdicts]
        yield runs, [*settled, *now] or ["nothing new"], step.verdict


def played(*steps: str, connector: str = "postgresql") -> Runs:
    """The runs of a source behind some steps, of which nothing writes down the verdict.

    Args:
        steps: lines of what lands, and `known` with what a run knows beside messages.
        connector: of the source.
    """
    some = []
    for step in steps:
        lines = [*filter(None, map(str.strip, step.split("\n")))]
        known = [one.removeprefix("known ") for one in lines if one.startswith("known ")]
        some.append(Step([one for one in lines if not one.startswith("known ")], known, []))
    *_, (runs, _, _) = play(Scenario("here", connector, is_in_order=False, steps=some))
    return runs


FAILED: Final = ("missing_row", "row_without_identity", "other_key")
"""Why a transaction waits on which a run has failed."""
ALWAYS_KNOWN: Final = ("refused_proofs", *FAILED, "sources_without_truncate")
"""What a run knows that is told before a message lands."""


def _settled_early(runs: Runs, landed: list[Landed]) -> Iterator[str]:
    """What a run settles that does not know yet what is known to the last one."""
    known = runs.settings
    runs.settings = replace(known, reaches_the_end=False, quiet_partitions=frozenset())
    runs.run(landed)
    runs.settings = known
    for one in runs.verdicts:
        if one.outcome != "hold":
            yield said(one)


def _landed(scenario: Scenario, writer: "Writer", lines: Iterable[str]) -> Iterator[Landed]:
    settings = GENERIC if scenario.connector == "informix" else DEFAULTS
    for line in lines:
        message = writer.message(line)
        if message is not None:
            one = flattened(message, settings)
            yield _anew(one) if line.endswith(", anew") else one


def _anew(one: Landed) -> Landed:
    """A message of the epoch that an operator has declared, as `flattened_columns` writes it."""
    names = (
        "transaction_id",
        "commit_position",
        "previous_commit_position",
        "event_position",
    )
    known = {name: getattr(one.flat, name) for name in names}
    return one._replace(
        flat=one.flat._replace(**{name: at and EPOCH + at for name, at in known.items()})
    )


def learn(runs: Runs, line: str) -> None:
    """Let the next runs know what a line of ```known says."""
    what, _, of = line.partition(" ")
    match what:
        case "release" | "discard" | "new_epoch":
            reads = of.removeprefix("snapshot ")
            known = f"snapshot {reads.zfill(WIDTH)}" if reads != of else of
            runs.decisions[known.replace("gtid:", f"{SERVER}:")] = what
        case _ if what in FAILED:
            failed = {**runs.settings.failed, of: what}
            runs.settings = replace(runs.settings, failed=failed)
        case "refused_proofs":
            runs.settings = replace(runs.settings, refused_proofs=(of,))
        case "landing_reaches_the_end":
            runs.settings = replace(runs.settings, reaches_the_end=of != "no_more")
        case "quiet":
            topic, partition = of.split()
            quiet = runs.settings.quiet_partitions | {(f"{SOURCE}.public.{topic}", int(partition))}
            runs.settings = replace(runs.settings, quiet_partitions=quiet)
        case "looked":
            topic, partition, end, at, *unsure = of.split()
            place = f"{SOURCE}.public.{topic}", int(partition)
            look = {place: Look(int(end), int(at), is_sure_end=not unsure)}
            runs.settings = replace(runs.settings, looks={**runs.settings.looks, **look})
        case "sources_without_truncate":
            runs.settings = replace(runs.settings, sends_no_truncates=True)
        case _:
            raise AssertionError(f"{line!r}: expected a decision or a setting")


def said(verdict: Verdict) -> str:
    """A verdict as one line."""
    transaction_id = (verdict.transaction_id or "").replace(SERVER, "gtid")
    transaction_id = transaction_id.replace(EPOCH, "since: ")
    snapshot = "blocking snapshot" if verdict.kind == "blocking_snapshot" else "snapshot"
    name = f"transaction {transaction_id}" if transaction_id else snapshot
    position = None if verdict.position is None else verdict.position.partition("+")[0]
    if position is not None:
        position = position.removeprefix("/")  # of numbers in several partitions
    at = ""
    if position is not None:
        first, slash, rest = position.removeprefix(EPOCH).partition("/")
        at = f" at {first.lstrip('0') or 0}{slash}{rest}"
    match verdict.outcome:
        case "commit":
            proof = "" if verdict.proof == "counted" else f", proof {verdict.proof}"
            return f"commit {verdict.chain_end.commit_number}: {name}{at}{proof}"
        case "hold":
            return f"hold: {name}{at}: {verdict.reason}"
        case outcome:
            return f"{outcome}: {name}{at}"


class Writer:
    """Messages of one source from lines."""

    def __init__(self, connector: str) -> None:
        self.connector = connector
        # SQL Server's source is one database of its connector.
        self.source = f"{SOURCE}.bank" if connector == "sqlserver" else SOURCE
        self.offsets: Counter[tuple[str, int]] = Counter()

    def message(self, line: str) -> dict[str, object] | None:
        """The message of a line; None for one that has not landed."""
        found = LINE.fullmatch(line)
        assert found, f"{line!r}: expected '<topic> <partition>  <message>'"
        topic, partition = found["topic"], int(found["partition"])
        at = self.offsets[topic, partition] if found["offset"] is None else int(found["offset"])
        self.offsets[topic, partition] = max(at + 1, self.offsets[topic, partition])
        first, *others = found["said"].split(", ")
        verb, _, key = first.partition(" ")
        clauses = dict(_clause(one) for one in others)
        if verb == "missing":
            return None
        name = f"{self.source}.public.{topic}"
        if topic in ("transaction", "message"):
            name = f"{SOURCE}.{topic}"
        elif topic == "copy":
            name = f"{COPIES}{SOURCE}.transaction"
        elif topic == "ddl":
            name = SOURCE
        message_key, value, headers = self._written(topic, verb, key, clauses)
        return {
            "topic": name,
            "partition": partition,
            "offset": at,
            "key": message_key,
            "value": value,
            "headers": headers,
        }

    def _written(
        self, topic: str, verb: str, key: str, clauses: Clauses
    ) -> tuple[str | None, str | None, list[dict[str, str]]]:
        row = {"id": key}
        if verb == "unreadable":
            return None, "{]", []
        if verb == "tombstone":
            return json.dumps(row), None, []
        if verb in ("BEGIN", "END"):
            return None, json.dumps(self._marker(verb, key, clauses)), []
        if verb == "ddl":
            source = self._source("", verb, {**clauses, "in": key, "at": "0"})
            changes = {"databaseName": "public", "ddl": "drop table unseen", "tableChanges": []}
            return None, json.dumps({"source": source, "ts_ms": 1, **changes}), []
        if verb in ("drop", "rename"):
            source = self._source("", verb, clauses)
            change = {"type": "DROP", "id": f'"public"."{key}"'}
            if verb == "rename":
                name = clauses["to"]
                old = f'"public"."{key}"'
                change = {"type": "ALTER", "id": f'"public"."{name}"', "previousId": old}
            changes = {"databaseName": "public", "ddl": "unseen", "tableChanges": [change]}
            return None, json.dumps({"source": source, "ts_ms": 1, **changes}), []
        cdl = {"unique": row, "message_version": "2.0", "message_type": "0", "LOB_COLUMNS": None}
        value: dict[str, object] = {
            "op": "m" if verb == "message" else OPERATIONS[verb],
            "source": self._source(topic, verb, clauses),
            "transaction": self._block(clauses),
            "ts_ms": 1,
        }
        if self.connector == "cdl":
            # A read is an insert with a marker (S22).
            value |= cdl | {"op": "c" if verb == "read" else value["op"]}
        if verb == "message":
            return None, json.dumps({**value, "message": {"prefix": "x", "content": ""}}), []
        if verb == "truncate":
            return None, json.dumps({**value, "before": None, "after": None}), []
        if "note" in clauses:
            row = {**row, "note": clauses["note"]}
        if "signal" in clauses:
            data = '{"type":"BLOCKING","data-collections":["public.orders"]}'
            row = {**row, "type": clauses["signal"], "data": data}
        headers = [
            {"key": f"__debezium.{name}", "value": json.dumps({"id": clauses[clause]})}
            for clause, name in (("becomes", "newkey"), ("was", "oldkey"))
            if clause in clauses
        ]
        images = (
            {"before": row, "after": None} if verb == "delete" else {"before": None, "after": row}
        )
        return (
            None if "keyless" in clauses else json.dumps({"id": key}),
            json.dumps({**value, **images}),
            headers,
        )

    def _marker(self, verb: str, key: str, clauses: Clauses) -> dict[str, object]:
        marker: dict[str, object] = {
            "status": verb,
            "id": self._id(key, clauses.get("at")),
            "ts_ms": int(clauses.get("time", 1)),
        }
        if verb == "END":
            words = clauses.get("counts", "nothing").replace(" and", "").split()
            pairs = zip(words[::2], words[1::2], strict=True) if len(words) > 1 else ()
            counts = {name: int(count) for name, count in pairs}
            schema = f"{clauses['of']}.public" if "of" in clauses else "public"
            marker["event_count"] = int(clauses.get("sum", sum(counts.values())))
            marker["data_collections"] = [
                {"data_collection": _collection(schema, name), "event_count": count}
                for name, count in counts.items()
            ]
        return marker

    def _id(self, key: str, at: str | None) -> str:
        if self.connector == "mysql":
            return f"{SERVER}:{key}"  # a tagged GTID is written `tag:1`
        if self.connector == "mariadb":
            return key if "-" in key else f"0-1-{key}"
        if self.connector == "oracle":
            return f"5.6.{key}"
        if self.connector == "informix":
            return key
        if self.connector != "postgresql":
            return _lsn(key)
        return key if at == "nowhere" else f"{key}:{at or 1}"

    def _block(self, clauses: Clauses) -> dict[str, object] | None:
        if "in" not in clauses or "numbers" not in clauses:
            return None
        total_order, table_order = map(int, clauses["numbers"].split())
        return {
            "id": self._id(clauses["in"], clauses.get("at")),
            "total_order": total_order,
            "data_collection_order": table_order,
        }

    def _source(self, topic: str, verb: str, clauses: Clauses) -> dict[str, object]:
        marker = next((one for one in MARKERS if one in clauses), None)
        is_read = verb == "read"
        source: dict[str, object] = {
            "connector": self.connector,
            "name": SOURCE,
            "db": "bank",
            "schema": "public",
            "table": "" if verb == "message" else topic,
            "snapshot": (marker or "true") if is_read else "false",
            "ts_ms": int(clauses.get("time", 1)),
        }
        at = None if clauses.get("at") == "nowhere" else clauses.get("at")
        if self.connector == "cdl":
            # A job of Huawei CDL writes Debezium's own block.
            return {
                **source,
                "connector": "postgresql",
                "txId": int(clauses["in"]),
                "lsn": int(at or 0),
            }
        if self.connector == "oracle":
            place = {"scn": at, "rs_id": "0x00031c.000a2b3d.0001", "ssn": 0}
            commit = None if clauses.get("commit") == "nowhere" else clauses.get("commit")
            number = None if is_read else clauses.get("in")
            transaction_id = None if number is None else self._id(number, None)
            return {**source, **place, "txId": transaction_id, "commit_scn": commit}
        if self.connector == "informix":
            if "schemaless" in clauses:
                del source["schema"]
            return {**source, "commit_lsn": clauses.get("commit", at), "change_lsn": at}
        if self.connector in ("mysql", "mariadb"):
            number = clauses.get("in", "none")
            gtid = None if number == "none" else self._id(number, None)
            server_id = 0 if is_read and marker != "incremental" else int(clauses.get("server", 9))
            place = {"file": f"binlog.00000{clauses.get('file', 1)}", "pos": int(at or 0), "row": 0}
            return {**source, "db": "public", **place, "server_id": server_id, "gtid": gtid}
        if self.connector != "postgresql":
            commit = at if is_read else clauses.get("in")
            return {
                **source,
                "commit_lsn": _lsn(commit or "0"),
                "change_lsn": None if is_read else _lsn(at or "0"),
                "event_serial_no": None if is_read else 1,
            }
        follows = clauses.get("follows", "nothing")
        sequence = [None if follows == "nothing" else follows, at]
        is_window_read = marker == "incremental"
        return {
            **source,
            "sequence": json.dumps(sequence),
            "txId": None if is_window_read else int(clauses.get("in", 0)) or None,
            "lsn": None if is_window_read or at is None else int(at),
        }


def _clause(text: str) -> tuple[str, str]:
    name, _, value = text.partition(" ")
    return name, value


def _collection(schema: str, name: str) -> str:
    if name == "messages":
        return "io.debezium.LogicalDecodingMessageMonitor$LogicalDecodingMessageId@219c5324"
    return f"{schema}.{name}"


def _lsn(number: str) -> str:
    """An LSN of SQL Server or Db2."""
    return f"00000001:{int(number):08x}:0001"
